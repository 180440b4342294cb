// Small operations apart: few kernels, and the bits of fused ones.
#include "strata/compile/fuse/fusion_limits.h"

#include <random>

#include "strata/base/error.h"
#include "strata/compile/compile_testing.h"
#include "strata/compile/fuse/fuse.h"
#include "strata/compile/llvm/compile_plan.h"
#include "strata/op/testing/random_program.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;

constexpr SharingLimits kAlways{.many = 0, .less = 1e9};

/// Operations on two of the last values each, with numbers of their own among them.
void irregular(Block& block, int operations, std::int64_t side) {
  Builder b(block);
  std::mt19937 random(1);
  std::vector<Value*> last(8, block.add_argument(Type(DType::f32, {side, side})));
  auto one = [&] { return last[random() % last.size()]; };
  auto number = [&] {
    return op::broadcast_in_dim(
        b, op::constant(b, Type(DType::f32, Shape{}), static_cast<double>(random() % 1000) / 1000),
        last[0]->shape(), {});
  };
  for (int i = 0; i < operations; ++i) {
    Value* made = nullptr;
    switch (random() % 6) {
      case 0: made = op::mul(b, one(), number()); break;
      case 1: made = op::tanh(b, one()); break;
      case 2: made = op::transpose(b, one(), {1, 0}); break;
      case 3:
        made = op::broadcast_in_dim(b, op::reduce_max(b, one(), {1}), last[0]->shape(), {0});
        break;
      case 4: made = op::min(b, one(), number()); break;
      default: made = op::sub(b, one(), one()); break;
    }
    last[static_cast<std::size_t>(i) % last.size()] = made;
  }
  block.results.assign(last.begin(), last.end());
}

std::vector<Literal> run(const Block& block, const std::vector<Literal>& arguments,
                         const SharingLimits& sharing, bool code) {
  Plan plan = make_plan(*prepare(block), {}, testing::widest(), {}, sharing);
  std::vector<void*> in, out, constants;
  std::vector<Literal> results;
  for (const Literal& a : arguments) in.push_back(const_cast<std::byte*>(a.data()));
  for (const Type& t : plan.result_types) results.emplace_back(t);
  for (Literal& r : results) out.push_back(r.mutable_data());
  for (Literal& c : plan.constants) constants.push_back(c.mutable_data());
  Literal arena(Type(DType::i8, Shape{plan.arena_bytes + 64}));
  RunContext context{in.data(), out.data(), constants.data(), arena.mutable_data()};
  if (code) {
    Driver driver = compile_plan(plan);
    run_driver(driver.run, context);
  } else {
    interpret(plan, context);
  }
  return results;
}

std::size_t instructions(const Plan& plan) {
  std::size_t n = 0;
  for (const auto& kernel : plan.kernels) n += kernel->arena.size();
  return n;
}

TEST(ShareKernels, AnIrregularGraphHasFewKernelsAndTheReferencesBits) {
  Block block;
  irregular(block, 300, 8);
  auto ready = prepare(block);
  Plan joined = make_plan(*ready, {}, testing::v3()),
       apart = make_plan(*ready, {}, testing::v3(), {}, {.many = 100});
  EXPECT_LE(apart.kernels.size(), 8u);  // one for each kind of operation, whatever its numbers are
  EXPECT_GT(instructions(joined), 3 * instructions(apart));
  std::vector<Literal> arguments = testing::arguments_of(block),
                       want = op::evaluate(block, arguments);
  for (bool code : {false, true})
    testing::expect_same_bits(run(block, arguments, {.many = 100}, code), want,
                              code ? "machine code" : "interpreter");
}

TEST(ShareKernels, GraphsOfFewOrEqualOperationsAreFused) {
  Block few;
  irregular(few, 50, 8);
  EXPECT_EQ(explain(choose_fusion(few)), explain(fuse(few)));
  Block layers;
  Builder b(layers);
  Value* x = layers.add_argument(Type(DType::f32, {8, 8}));
  for (int i = 0; i < 100; ++i)
    x = op::add(b, x,
                op::tanh(b, op::dot_general(b, x, x, {.lhs_contract = {1}, .rhs_contract = {0}})));
  layers.results = {x};
  EXPECT_EQ(explain(choose_fusion(layers, {.many = 50})), explain(fuse(layers)));
}

TEST(ShareKernels, OperationsOnLargeArraysAreFused) {
  Block block;
  irregular(block, 60, 128);
  EXPECT_EQ(explain(choose_fusion(block, {.many = 10})), explain(fuse(block)));
}

TEST(ShareKernels, RandomProgramsHaveTheReferencesBits) {
  for (unsigned seed = 1; seed <= 80; ++seed) {
    auto block =
        op::testing::random_program(seed, {.instructions = 5 + static_cast<int>(seed % 6)}).build();
    std::vector<Literal> arguments = testing::arguments_of(*block, seed),
                         want = op::evaluate(*block, arguments);
    testing::expect_same_bits(run(*block, arguments, kAlways, seed % 4 == 0), want,
                              fmt::format("seed {}", seed));
  }
}

}  // namespace
}  // namespace strata::compile
