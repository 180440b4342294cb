// ConcurrentLaunches of launches: what an optimizer's step becomes, and with the bits of the
// launches one after another.
#include "strata/compile/plan/concurrent_launches.h"

#include <gtest/gtest.h>

#include "strata/compile/compile_testing.h"
#include "strata/compile/llvm/compile_plan.h"
#include "strata/compile/plan/launch_cost.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;
using ir::Values;

Value* scaled(Builder& b, Value* x, double factor) {
  return op::mul(b, x, op::full_like(b, x, factor));
}
/// The same for a number that the program computes.
Value* over(Builder& b, Value* x, Value* number) {
  return op::div(b, x, op::broadcast_in_dim(b, number, x->shape(), {}));
}

/// What a leaf of an AdamW step is made of.
struct Leaf {
  Value *p, *m, *v, *g;
};
using Rule = std::function<Values(Builder&, const Leaf&, Value* correction)>;

/// AdamW of one leaf: new p, m, v.
Values adamw(Builder& b, const Leaf& leaf, Value* correction) {
  Value* m = op::add(b, scaled(b, leaf.g, 0.1), scaled(b, leaf.m, 0.9));
  Value* v = op::add(b, scaled(b, op::mul(b, leaf.g, leaf.g), 0.001), scaled(b, leaf.v, 0.999));
  Value* root = op::sqrt(b, op::abs(b, over(b, v, correction)));
  Value* u = op::div(b, over(b, m, correction), op::add(b, root, op::full_like(b, root, 1e-8)));
  u = op::add(b, u, scaled(b, leaf.p, 0.01));
  return {op::add(b, leaf.p, scaled(b, u, -0.001)), m, v};
}
/// A rule whose steps are scaled by a norm of each leaf: several launches in a row.
Values by_norm(Builder& b, const Leaf& leaf, Value* correction) {
  Value* m = op::add(b, scaled(b, leaf.g, 0.1), scaled(b, leaf.m, 0.9));
  Value* columns = op::reduce_sum(b, op::exp(b, m), {0});
  Value* norm = op::sqrt(b, op::reduce_sum(b, op::mul(b, columns, columns), {0}));
  return {op::add(b, leaf.p, over(b, over(b, m, norm), correction)), m};
}
/// Lion: new p and m, neither of which is made from the other.
Values lion(Builder& b, const Leaf& leaf, Value*) {
  Value* x = op::add(b, scaled(b, leaf.g, 0.1), scaled(b, leaf.m, 0.9));
  Value* p = op::add(b, leaf.p, scaled(b, op::sign(b, x), -0.001));
  return {p, op::add(b, scaled(b, leaf.g, 0.01), scaled(b, leaf.m, 0.99))};
}

/// A step over leaves of these shapes. Arguments: a number, all p, all m, all v, all g; results in
/// the order of p, m and, if the rule makes one, v.
std::unique_ptr<Block> step(const std::vector<Shape>& shapes, const Rule& rule) {
  auto block = std::make_unique<Block>();
  Value* number = block->add_argument(Type(DType::f32, Shape{}));
  std::vector<Leaf> leaves(shapes.size());
  for (Value* Leaf::* field : {&Leaf::p, &Leaf::m, &Leaf::v, &Leaf::g})
    for (std::size_t i = 0; i < shapes.size(); ++i)
      leaves[i].*field = block->add_argument(Type(DType::f32, shapes[i]));
  Builder b(*block);
  Value* correction = op::exp(b, op::sin(b, number));
  std::vector<Values> made;
  for (const Leaf& leaf : leaves) made.push_back(rule(b, leaf, correction));
  for (std::size_t r = 0; r < made[0].size(); ++r)
    for (std::size_t i = 0; i < leaves.size(); ++i) block->results.push_back(made[i][r]);
  return block;
}
std::vector<Shape> shapes(int many, std::int64_t side) {
  return std::vector<Shape>(static_cast<std::size_t>(many), Shape{side, side});
}
/// All of p, m and v are given away.
std::vector<bool> donated(std::size_t leaves) {
  std::vector<bool> out(1 + 4 * leaves, false);
  std::fill_n(out.begin() + 1, 3 * leaves, true);
  return out;
}

Plan plan_of(const Block& block, std::size_t leaves) {
  return make_plan(*prepare(block), donated(leaves), testing::v3());
}
std::vector<const ConcurrentLaunches*> streams_of(const Plan& plan) {
  std::vector<const ConcurrentLaunches*> out;
  for (const Step& s : plan.steps)
    if (const auto* streams = std::get_if<ConcurrentLaunches>(&s.what)) out.push_back(streams);
  return out;
}

TEST(ConcurrentLaunches, AStepOfAdamWIsOneLaunchThatReadsAndWritesEachArrayOnce) {
  constexpr std::size_t kLeaves = 200;
  constexpr std::int64_t kSide = 64;
  const Plan plan = plan_of(*step(shapes(kLeaves, kSide), adamw), kLeaves);
  // The number's correction first.
  ASSERT_EQ(plan.steps.size(), 2U) << print(plan);
  const std::vector<const ConcurrentLaunches*> streams = streams_of(plan);
  ASSERT_EQ(streams.size(), 1U);
  EXPECT_EQ(streams[0]->streams, static_cast<std::int64_t>(kLeaves));
  EXPECT_EQ(plan.kernels.size(), 2U);
  EXPECT_EQ(launches(plan).size(), 2U);

  // 7 arrays of each leaf, and its correction.
  constexpr double kArrays = 4.0 * kLeaves * kSide * kSide, kNumbers = 4.0 * kLeaves;
  const LaunchCost work = launch_costs(plan)[1];
  EXPECT_EQ(work.read, 4 * kArrays + kNumbers);
  EXPECT_EQ(work.written, 3 * kArrays);
  // In place.
  for (int argument : plan.aliased) EXPECT_GE(argument, 0);
  EXPECT_EQ(plan.aliased.size(), 3 * kLeaves);
}

TEST(ConcurrentLaunches, KernelsAndStepsDoNotGrowWithLeavesOfOneShape) {
  for (const Rule& rule : {Rule(adamw), Rule(lion), Rule(by_norm)}) {
    const Plan few = plan_of(*step(shapes(20, 64), rule), 20),
               many = plan_of(*step(shapes(200, 64), rule), 200);
    EXPECT_EQ(few.kernels.size(), many.kernels.size());
    EXPECT_EQ(launches(few).size(), launches(many).size()) << print(few);
  }
}

TEST(ConcurrentLaunches, ResultsFromTheSameArraysAreMadeTogether) {
  const Plan plan = plan_of(*step(shapes(20, 128), lion), 20);
  ASSERT_EQ(streams_of(plan).size(), 1U) << print(plan);
  const LaunchCost work = launch_costs(plan).back();
  constexpr double kArrays = 4.0 * 20 * 128 * 128;
  EXPECT_EQ(work.read, 3 * kArrays);
  EXPECT_EQ(work.written, 2 * kArrays);
}

TEST(ConcurrentLaunches, WhatALeafPassesOnStaysWithItsThread) {
  const Plan plan = plan_of(*step(shapes(40, 128), by_norm), 40);
  const std::vector<const ConcurrentLaunches*> streams = streams_of(plan);
  ASSERT_EQ(streams.size(), 1U) << print(plan);
  EXPECT_GT(streams[0]->launches.size(), 40U);
  EXPECT_GT(streams[0]->scratch_bytes, 0);
  EXPECT_LT(plan.arena_bytes, 1024);  // the correction
}

TEST(ConcurrentLaunches, LargeLeavesAreCutAndSmallOnesGoTogether) {
  std::vector<Shape> all = shapes(100, 8);
  all.push_back(Shape{1024, 1024});
  const Plan plan = plan_of(*step(all, adamw), all.size());
  const std::vector<const ConcurrentLaunches*> streams = streams_of(plan);
  ASSERT_EQ(streams.size(), 1U) << print(plan);
  std::vector<std::int64_t> points(streams[0]->launches.size(), 0);
  std::int64_t together = 0, cut = 0;
  for (const ConcurrentLaunches::Claim& c : streams[0]->claims) {
    together += c.count > 1;
    cut += c.end >= 0;
    for (std::int64_t i = c.first; i < c.first + c.count; ++i) {
      const Launch& l = streams[0]->launches[static_cast<std::size_t>(i)];
      const std::int64_t grid = plan.kernels[static_cast<std::size_t>(l.kernel)]->grid;
      points[static_cast<std::size_t>(i)] += (c.end < 0 ? grid : c.end) - c.begin;
    }
  }
  EXPECT_GT(together, 0);
  EXPECT_GT(cut, 8);
  for (std::size_t i = 0; i < points.size(); ++i)  // each point of each launch once
    EXPECT_EQ(points[i],
              plan.kernels[static_cast<std::size_t>(streams[0]->launches[i].kernel)]->grid);
}

TEST(ConcurrentLaunches, LeavesThatWaitForEachOtherStayApart) {
  auto block = std::make_unique<Block>();
  Values x;
  for (int i = 0; i < 20; ++i) x.push_back(block->add_argument(Type(DType::f32, Shape{64, 64})));
  Builder b(*block);
  Value* sum = x[0];
  for (int i = 1; i < 20; ++i) {
    sum = op::dot_general(b, op::tanh(b, sum), x[static_cast<std::size_t>(i)], {{}, {}, {1}, {0}});
    block->results.push_back(sum);
  }
  EXPECT_TRUE(streams_of(make_plan(*prepare(*block), {}, testing::v3())).empty());
}

/// Runs a plan by its walker or as machine code.
std::vector<Literal> run(Plan& plan, const std::vector<Literal>& arguments, bool code) {
  std::vector<void*> in, out, constants;
  std::vector<Literal> results;
  for (const Literal& a : arguments) in.push_back(const_cast<std::byte*>(a.data()));
  for (const Type& t : plan.result_types) results.emplace_back(t);
  for (Literal& r : results) out.push_back(r.mutable_data());
  for (Literal& c : plan.constants) constants.push_back(c.mutable_data());
  Literal arena(Type(DType::i8, Shape{plan.arena_bytes + 64}));
  RunContext context{in.data(), out.data(), constants.data(), arena.mutable_data()};
  if (code)
    run_driver(compile_plan(plan).run, context);
  else
    interpret(plan, context);
  return results;
}

TEST(ConcurrentLaunches, HaveTheBitsOfTheLaunchesOneAfterAnother) {
  std::vector<Shape> all = shapes(12, 24);
  for (std::int64_t n : {1, 7, 33}) all.push_back(Shape{n, 40});
  all.push_back(Shape{300, 200});
  for (const Rule& rule : {Rule(adamw), Rule(lion), Rule(by_norm)}) {
    const std::unique_ptr<Block> block = step(all, rule);
    const std::vector<Literal> arguments = testing::arguments_of(*block),
                               want = op::evaluate(*block, arguments);
    std::unique_ptr<Block> ready = prepare(*block);
    // Also where a leaf has most of the work.
    Plan plan = make_plan(*ready, {}, testing::widest(), {}, {},
                          {.least_streams = 2, .least_work = 0, .most_share = 1});
    ASSERT_FALSE(streams_of(plan).empty()) << print(plan);
    testing::expect_same_bits(run(plan, arguments, false), want, "by the walker\n" + print(plan));
    for (int threads : {1, 2, 3}) {
      set_num_threads(threads);
      testing::expect_same_bits(run(plan, arguments, true), want,
                                fmt::format("machine code, {} threads\n{}", threads, print(plan)));
    }
    set_num_threads(0);
    testing::expect_compiled_equals_reference(*block);
  }
}

}  // namespace
}  // namespace strata::compile
