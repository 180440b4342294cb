// Products whose operands have blocks of zeros (pass/dot/block_sparsity.h): which are marked, and
// that terms left out change no bit.
#include "strata/pass/dot/block_sparsity.h"

#include <limits>

#include "strata/compile/processor_testing.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;

struct Case {
  std::int64_t m, n, k;
  bool left_along = true, right_along = false;  // whether neighbours in k are neighbours in memory
  int side = 0;                                 // the operand that is masked
  DType dtype = DType::f32;
};

/// select(mask, x, 0) y, or x select(mask, y, 0), in two of each.
std::unique_ptr<Block> masked_gemm(const Case& c) {
  auto f = std::make_unique<Block>();
  const Shape lhs = c.left_along ? Shape{2, c.m, c.k} : Shape{2, c.k, c.m},
              rhs = c.right_along ? Shape{2, c.n, c.k} : Shape{2, c.k, c.n};
  const Shape masked = c.side == 0 ? lhs : rhs;
  ir::Values v{f->add_argument(Type(c.dtype, lhs)), f->add_argument(Type(c.dtype, rhs))};
  Value* mask = f->add_argument(Type(DType::i1, {masked[1], masked[2]}));
  Builder b(*f);
  Value*& x = v[static_cast<std::size_t>(c.side)];
  x = op::select(b, op::broadcast_in_dim(b, mask, masked, {1, 2}), x, op::zeros_like(b, x));
  f->results = {
      op::dot_general(b, v[0], v[1], {{0}, {0}, {c.left_along ? 2 : 1}, {c.right_along ? 2 : 1}})};
  return f;
}

/// Masks of [rows, k]: by the difference of place, none, all, and by chance.
using Mask = bool (*)(std::int64_t row, std::int64_t k);
const Mask kMasks[] = {
    [](std::int64_t row, std::int64_t k) { return k <= row; },
    [](std::int64_t row, std::int64_t k) { return k >= row; },
    [](std::int64_t row, std::int64_t k) { return k <= row && k + 20 > row; },
    [](std::int64_t, std::int64_t) { return false; },
    [](std::int64_t, std::int64_t) { return true; },
    [](std::int64_t row, std::int64_t k) { return row % 7 == 3 && k == 50; },
    [](std::int64_t row, std::int64_t k) { return (row * 31 + k * 17) % 41 == 0; }};

std::vector<Literal> arguments_of(const Block& f, const Case& c, Mask mask) {
  std::vector<Literal> out = testing::arguments_of(f, 5);
  const bool along = c.side == 0 ? c.left_along : c.right_along;
  const std::int64_t rows = c.side == 0 ? c.m : c.n;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t k = 0; k < c.k; ++k)
      out[2].set_integer(along ? r * c.k + k : k * rows + r, mask(r, k));
  return out;
}

TEST(ZeroBlocks, TermsThatAreLeftOutChangeNoBit) {
  for (const Case& c :
       {Case{70, 40, 64}, Case{70, 40, 96, false}, Case{70, 40, 128, true, true},
        Case{70, 40, 96, true, false, 1}, Case{70, 40, 96, true, true, 1},
        Case{33, 20, 2048, false, true}, Case{20, 70, 2048, true, false, 1},
        Case{13, 40, 80, true, false, 0, DType::f64}, Case{3, 40, 96, true, true, 1},
        Case{40, 3, 96}, Case{40, 40, 96, true, false, 0, DType::f16}}) {
    auto f = masked_gemm(c);
    for (const Mask& mask : kMasks) {
      SCOPED_TRACE(fmt::format("{} x {} over {}, {}, side {}, mask {}", c.m, c.n, c.k,
                               name(c.dtype), c.side, &mask - kMasks));
      std::vector<Literal> arguments = arguments_of(*f, c, mask),
                           want = op::evaluate(*f, arguments);
      testing::expect_same_bits(testing::run_compiled(*f, arguments), want, "machine code");
    }
  }
}

TEST(ZeroBlocks, NorOnAnotherProcessor) {
  for (const char* processor : {"x86-64-v3", "x86-64-v4"})
    for (const Case& c :
         {Case{21, 40, 64}, Case{21, 40, 64, false, false}, Case{21, 40, 64, true, true, 1}}) {
      auto f = masked_gemm(c);
      for (const Mask& mask : kMasks) {
        SCOPED_TRACE(fmt::format("{}: side {}, mask {}", processor, c.side, &mask - kMasks));
        std::vector<Literal> arguments = arguments_of(*f, c, mask);
        testing::expect_same_bits({testing::run_as_on(processor, *f, arguments)},
                                  op::evaluate(*f, arguments), "by the walker");
      }
    }
}

/// Whether kernels of the program look for zeros.
bool looks(const Block& f, const char* processor = "native") {
  Plan plan = make_plan(*prepare(f), {}, CpuTarget::named(processor));
  return std::any_of(plan.kernels.begin(), plan.kernels.end(),
                     [](const auto& k) { return print(*k).find("while") != std::string::npos; });
}

TEST(ZeroBlocks, NorOfPairs) {
  const char* processor = "x86-64-v4,+avx512bf16";
  for (Case c :
       {Case{21, 40, 160}, Case{21, 40, 128, false, false}, Case{21, 40, 192, true, true, 1}}) {
    c.dtype = DType::bf16;
    auto f = masked_gemm(c);
    EXPECT_TRUE(looks(*f, processor));
    for (const Mask& mask : kMasks) {
      SCOPED_TRACE(fmt::format("over {}, side {}, mask {}", c.k, c.side, &mask - kMasks));
      std::vector<Literal> arguments = arguments_of(*f, c, mask);
      testing::expect_same_bits({testing::run_as_on(processor, *f, arguments)},
                                op::evaluate(*f, arguments), "by the walker");
    }
  }
}

TEST(ZeroBlocks, OnlyProductsOfWhatAMaskChoseLook) {
  EXPECT_TRUE(looks(*masked_gemm({70, 40, 96})));
  EXPECT_TRUE(looks(*masked_gemm({70, 40, 96, true, false, 1})));
  EXPECT_FALSE(looks(*masked_gemm({70, 40, 40}))) << "too short";
  Block f;
  Value *x = f.add_argument(Type(DType::f32, {70, 96})),
        *y = f.add_argument(Type(DType::f32, {96, 40}));
  Builder b(f);
  Value* relu =
      op::select(b, op::compare(b, x, op::zeros_like(b, x), "GT"), x, op::zeros_like(b, x));
  f.results = {op::dot_general(b, relu, y, {{}, {}, {1}, {0}})};
  EXPECT_FALSE(looks(f)) << "floats choose";
}

/// A product of what `made` makes of a mask and scores.
bool looks_at(const std::function<Value*(Builder&, Value* mask, Value* scores)>& made) {
  Block f;
  Value *mask = f.add_argument(Type(DType::i1, {70, 96})),
        *x = f.add_argument(Type(DType::f32, {70, 96})),
        *y = f.add_argument(Type(DType::f32, {96, 40}));
  Builder b(f);
  f.results = {op::dot_general(b, made(b, mask, x), y, {{}, {}, {1}, {0}})};
  return looks(f);
}

TEST(ZeroBlocks, ZerosAreFollowedWhereTheyStay) {
  auto splat = [](Builder& b, Value* like, double x) {
    return op::broadcast_in_dim(b, op::scalar(b, DType::f32, x), like->shape(), {});
  };
  EXPECT_TRUE(looks_at([&](Builder& b, Value* mask, Value* x) {
    return op::mul(b, x, op::select(b, mask, x, splat(b, x, 0)));
  }));
  for (double low : {-1e30, -10000.0, -std::numeric_limits<double>::infinity()})
    EXPECT_TRUE(looks_at([&](Builder& b, Value* mask, Value* x) {
      return op::exp(b, op::sub(b, op::select(b, mask, x, splat(b, x, low)), x));
    })) << low;
  EXPECT_FALSE(looks_at([&](Builder& b, Value* mask, Value* x) {
    return op::exp(b, op::select(b, mask, x, splat(b, x, 0)));
  })) << "ones";
  EXPECT_FALSE(looks_at([&](Builder& b, Value* mask, Value* x) {
    return op::sub(b, x, op::select(b, mask, x, splat(b, x, 0)));
  })) << "the gradient of a loss";
  EXPECT_FALSE(looks_at([&](Builder& b, Value* mask, Value* x) {
    return op::select(b, mask, x, splat(b, x, 0.1));
  })) << "no zeros";
}

/// They are left out: what is infinite under zeros makes no NaN, as docs/exceptions.md says.
TEST(ZeroBlocks, InfinitiesUnderZerosAreNotSeen) {
  const Case c{70, 40, 96};
  auto f = masked_gemm(c);
  std::vector<Literal> arguments = arguments_of(*f, c, kMasks[0]);
  for (std::int64_t n = 0; n < c.n; ++n)
    arguments[1].set_number(95 * c.n + n, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(op::evaluate(*f, arguments)[0].number(0)));
  EXPECT_TRUE(std::isfinite(testing::run_compiled(*f, arguments)[0].number(0)));
}

}  // namespace
}  // namespace strata::compile
