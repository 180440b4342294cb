// Products of bf16 by tiles: within the bound of docs/exceptions.md of the exact result, the same
// bits for any M, N and batch, and those of the machine where it has tiles.
#include <cmath>

#include "strata/compile/compile_testing.h"
#include "strata/compile/llvm/compile_kernels.h"
#include "strata/op/linalg/dot_general.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;

const CpuTarget& tiles() {
  static const CpuTarget target = [] {
    CpuTarget t = CpuTarget::named("native");
    t.tiles = true;
    return t;
  }();
  return target;
}

struct Dims {
  std::int64_t batch, m, n, k;
  bool left_along, right_along;  // whether neighbours in k are neighbours in memory
};

std::unique_ptr<Block> product(const Dims& d, DType out) {
  auto f = std::make_unique<Block>();
  Value* l = f->add_argument(
      Type(DType::bf16, d.left_along ? Shape{d.batch, d.m, d.k} : Shape{d.batch, d.k, d.m}));
  Value* r = f->add_argument(
      Type(DType::bf16, d.right_along ? Shape{d.batch, d.n, d.k} : Shape{d.batch, d.k, d.n}));
  Builder b(*f);
  f->results = {
      op::dot_general(b, l, r, {{0}, {0}, {d.left_along ? 2 : 1}, {d.right_along ? 2 : 1}}, out)};
  return f;
}

/// By the plan for a processor with tiles: interpreted, or its kernels as code.
Literal run(const Block& block, const std::vector<Literal>& arguments, bool code) {
  Plan plan = make_plan(*prepare(block), {}, tiles());
  std::vector<void*> in, out, constants;
  for (const Literal& a : arguments) in.push_back(const_cast<std::byte*>(a.data()));
  Literal result(plan.result_types[0]);
  out.push_back(result.mutable_data());
  for (Literal& c : plan.constants) constants.push_back(c.mutable_data());
  std::vector<std::byte> arena(static_cast<std::size_t>(plan.arena_bytes) + 64, std::byte{0x5a});
  RunContext context{in.data(), out.data(), constants.data(), arena.data()};
  if (!code) {
    interpret(plan, context);
    return result;
  }
  interpret(plan, context, [&](int k, std::span<void* const> buffers) {
    const loop::Kernel& kernel = *plan.kernels[static_cast<std::size_t>(k)];
    compile_kernel_for(tiles(), kernel)(buffers.data(), 0, kernel.grid);
  });
  return result;
}

double element(const Literal& x, std::int64_t batch, std::int64_t row, std::int64_t column) {
  const Shape& s = x.shape();
  return x.number((batch * s[1] + row) * s[2] + column);
}

TEST(AmxGemm, WithinTheBoundAndTheMachinesBits) {
  for (const Dims& d : {Dims{1, 5, 7, 3, true, false}, Dims{1, 1, 40, 65, true, false},
                        Dims{2, 33, 17, 32, true, true}, Dims{1, 20, 50, 100, false, false},
                        Dims{3, 16, 16, 1, false, true}, Dims{1, 47, 1, 31, true, true},
                        Dims{1, 6, 5, 1100, true, true}, Dims{1, 18, 35, 1056, false, false},
                        Dims{1, 300, 20, 34, true, false}, Dims{1, 4, 530, 33, false, true}}) {
    auto f = product(d, DType::f32);
    std::vector<Literal> arguments = testing::arguments_of(*f);
    Literal got = run(*f, arguments, false);
    for (std::int64_t b = 0; b < d.batch; ++b)
      for (std::int64_t m = 0; m < d.m; ++m)
        for (std::int64_t n = 0; n < d.n; ++n) {
          double exact = 0, size = 0;
          for (std::int64_t k = 0; k < d.k; ++k) {
            double x =
                (d.left_along ? element(arguments[0], b, m, k) : element(arguments[0], b, k, m)) *
                (d.right_along ? element(arguments[1], b, n, k) : element(arguments[1], b, k, n));
            exact += x;
            size += std::fabs(x);
          }
          ASSERT_LE(std::fabs(element(got, b, m, n) - exact),
                    2 * static_cast<double>(d.k) * std::ldexp(size, -24) +
                        static_cast<double>(d.k) * std::ldexp(1, -126))
              << d.m << "x" << d.n << "x" << d.k << " at " << m << " " << n;
        }
    if (CpuTarget::host().tiles)
      testing::expect_same_bits({run(*f, arguments, true)}, {got}, "machine code");
  }
}

TEST(AmxGemm, BitsDependOnKAlone) {
  auto whole = product({2, 37, 45, 700, true, false}, DType::bf16);
  std::vector<Literal> arguments = testing::arguments_of(*whole);
  Literal want = run(*whole, arguments, false);
  for (bool left_along : {true, false})
    for (bool right_along : {true, false}) {
      Dims d{1, 1, 3, 700, left_along, right_along};
      auto part = product(d, DType::bf16);
      std::vector<Literal> few = testing::arguments_of(*part);
      for (std::int64_t k = 0; k < d.k; ++k) {
        few[0].set_number(k, element(arguments[0], 1, 36, k));
        for (std::int64_t n = 0; n < 3; ++n)
          few[1].set_number(right_along ? n * d.k + k : k * 3 + n,
                            element(arguments[1], 1, k, 42 + n));
      }
      Literal got = run(*part, few, false);
      for (std::int64_t n = 0; n < 3; ++n) EXPECT_EQ(got.number(n), element(want, 1, 36, 42 + n));
    }
}

TEST(AmxGemm, GoesOnFromGivenSums) {
  for (auto [m, n, k] :
       {std::array<std::int64_t, 3>{37, 45, 128}, {300, 20, 64}, {20, 530, 1408}}) {
    op::DotDims dims{{}, {}, {1}, {0}};
    auto f = std::make_unique<Block>(), parts = std::make_unique<Block>();
    for (Block* block : {f.get(), parts.get()}) {
      Value *l = block->add_argument(Type(DType::bf16, {m, k})),
            *r = block->add_argument(Type(DType::bf16, {k, n}));
      Builder b(*block);
      block->results = {op::dot_general(b, l, r, dims, DType::f32)};
      if (block == f.get()) continue;
      Value* first = op::dot_general(b, op::slice_dim(b, l, 1, 0, k / 2),
                                     op::slice_dim(b, r, 0, 0, k / 2), dims, DType::f32);
      block->results = {op::dot_add(b, op::slice_dim(b, l, 1, k / 2, k),
                                    op::slice_dim(b, r, 0, k / 2, k), first, dims)};
    }
    std::vector<Literal> arguments = testing::arguments_of(*f);
    Literal want = run(*f, arguments, false);
    testing::expect_same_bits({run(*parts, arguments, false)}, {want}, "interpreted");
    if (CpuTarget::host().tiles)
      testing::expect_same_bits({run(*parts, arguments, true)}, {want}, "machine code");
  }
}

TEST(AmxGemm, OnlyOfBf16AndWhereTheyAre) {
  auto kernels = [](const Block& f, const CpuTarget& target) {
    std::string text;
    for (const auto& k : make_plan(*prepare(f), {}, target).kernels) text += loop::print(*k);
    return text;
  };
  auto f = product({1, 8, 8, 8, true, false}, DType::bf16);
  EXPECT_NE(kernels(*f, tiles()).find("strata_tile_product"), std::string::npos);
  EXPECT_EQ(kernels(*f, CpuTarget::named("native")).find("strata_tile_product"), std::string::npos);
  Block g;
  Value *x = g.add_argument(Type(DType::f32, {8, 8})),
        *y = g.add_argument(Type(DType::f32, {8, 8}));
  Builder b(g);
  g.results = {op::dot_general(b, x, y, {{}, {}, {1}, {0}}, DType::f32)};
  EXPECT_EQ(kernels(g, tiles()).find("strata_tile_product"), std::string::npos);
}

// What follows is computed as the results are stored: the bits of the product alone, and of what
// follows by itself.
TEST(AmxGemm, ComputesWhatFollowsIt) {
  for (const Dims& d : {Dims{1, 47, 40, 31, true, true}, Dims{2, 33, 17, 32, true, false},
                        Dims{1, 18, 35, 1056, false, false}}) {
    auto f = product(d, DType::f32), alone = product(d, DType::f32);
    Value* sums = f->results[0];
    Value* more = f->add_argument(sums->type());
    Builder b(*f);
    f->results = {op::max(b, op::add(b, sums, more), op::full_like(b, sums, 0))};
    EXPECT_EQ(make_plan(*prepare(*f), {}, tiles()).kernels.size(), 1u);
    std::vector<Literal> arguments = testing::arguments_of(*f);
    const Literal products = run(*alone, {arguments[0], arguments[1]}, false);
    Block rest;
    Value *x = rest.add_argument(sums->type()), *y = rest.add_argument(sums->type());
    Builder r(rest);
    rest.results = {op::max(r, op::add(r, x, y), op::full_like(r, x, 0))};
    testing::expect_same_bits({run(*f, arguments, false)},
                              op::evaluate(rest, std::vector<Literal>{products, arguments[2]}),
                              "follows");
  }
}

}  // namespace
}  // namespace strata::compile
