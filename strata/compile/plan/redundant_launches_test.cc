// Sides of products are laid out once, where the plan shows that it would be done again
// (redundant_launches.h).
#include "strata/compile/plan/redundant_launches.h"

#include <gtest/gtest.h>

#include "strata/compile/compile_testing.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;
using testing::expect_compiled_equals_reference;

/// Launches that lay sides out: of all steps, or of those in loops alone.
int layouts(const Plan& plan, const Steps& steps, bool in_loops, bool in_loop = false) {
  int out = 0;
  for (const Step& s : steps) {
    if (const auto* l = std::get_if<Launch>(&s.what))
      out += (in_loop || !in_loops) &&
             plan.kernels[static_cast<std::size_t>(l->kernel)]->name == "pack";
    if (const auto* loop = std::get_if<CountedLoop>(&s.what))
      out += layouts(plan, loop->body, in_loops, true);
  }
  return out;
}
int layouts(const Block& block, bool in_loops = false) {
  const Plan plan =
      make_plan(*prepare(block), {}, CpuTarget::named("x86-64-v4"));  // others lay out otherwise
  return layouts(plan, plan.steps, in_loops);
}

Value* product(Builder& b, Value* x, Value* w) {
  return op::dot_general(b, x, w, {{}, {}, {1}, {0}});
}

/// x w for each of some x.
void products(Block& block, int many) {
  Value* w = block.add_argument(Type(DType::f32, Shape{128, 128}));
  for (int i = 0; i < many; ++i) {
    Value* x = block.add_argument(Type(DType::f32, Shape{4096, 128}));
    Builder b(block);
    block.results.push_back(product(b, x, w));
  }
}

TEST(RepeatedLaunches, ProductsShareWhatIsLaidOut) {
  Block one, two;
  products(one, 1);
  products(two, 2);
  EXPECT_EQ(layouts(one), 1);
  EXPECT_EQ(layouts(two), 1);
  expect_compiled_equals_reference(two, 1, /*interpret_too=*/false);
}

/// Turns of c = c / 2 + c w, with w as it is, or halved in each iteration.
void turns(Block& block, bool halved) {
  const Type square(DType::f32, Shape{128, 128}), rows(DType::f32, Shape{4096, 128});
  Value *w = block.add_argument(square), *c = block.add_argument(rows);
  Builder b(block);
  auto body = std::make_unique<Block>();
  Builder in(*body);
  auto half = [&](Value* x) { return op::mul(in, x, op::full_like(in, x, 0.5)); };
  if (halved) {
    Value *weights = body->add_argument(square), *carry = body->add_argument(rows);
    body->results = {half(weights), op::add(in, half(carry), product(in, carry, weights))};
    block.results = op::scan(b, std::move(body), {}, {w, c}, {}, {.length = 2});
  } else {
    Value *weights = body->add_argument(square), *carry = body->add_argument(rows);
    body->results = {op::add(in, half(carry), product(in, carry, weights))};
    block.results = op::scan(b, std::move(body), {w}, {c}, {}, {.length = 2});
  }
}

TEST(RepeatedLaunches, WhatALoopLeavesAsItIsIsLaidOutBefore) {
  Block same, halved;
  turns(same, false);
  turns(halved, true);
  EXPECT_EQ(layouts(same), 1);
  EXPECT_EQ(layouts(same, true), 0);
  EXPECT_GE(layouts(halved, true), 1) << "what changes is laid out in each turn";
  expect_compiled_equals_reference(same, 1, /*interpret_too=*/false);
  expect_compiled_equals_reference(halved, 1, /*interpret_too=*/false);
}

/// y = x + x, of 16 elements.
std::unique_ptr<loop::Kernel> doubled() {
  auto kernel = std::make_unique<loop::Kernel>("doubled");
  loop::Builder b(*kernel);
  loop::Ref *x = b.parameter(DType::f32, 16, loop::Ref::Mode::in),
            *y = b.parameter(DType::f32, 16, loop::Ref::Mode::out);
  b.vector(0, 16, 16, [&](loop::Index i) {
    b.store(y, i, b.binary(loop::Opcode::add, b.load(x, i), b.load(x, i)));
  });
  return kernel;
}
/// x = x + x in its own memory.
std::unique_ptr<loop::Kernel> doubled_in_place() {
  auto kernel = std::make_unique<loop::Kernel>("doubled_in_place");
  loop::Builder b(*kernel);
  loop::Ref* x = b.parameter(DType::f32, 16, loop::Ref::Mode::inout);
  b.vector(0, 16, 16, [&](loop::Index i) {
    b.store(x, i, b.binary(loop::Opcode::add, b.load(x, i), b.load(x, i)));
  });
  return kernel;
}
std::vector<PlanBuffer> an_argument_and_temporaries(int count) {
  std::vector<PlanBuffer> out{{.kind = PlanBuffer::Kind::argument, .number = 0, .bytes = 64}};
  for (int i = 0; i < count; ++i)
    out.push_back({.kind = PlanBuffer::Kind::temporary, .number = 0, .bytes = 64});
  return out;
}

/// The same kernel on the same buffer, which was written in between: by a plan made by hand.
TEST(RepeatedLaunches, OperandsThatChangeInBetweenAreReadAgain) {
  for (bool changed : {false, true}) {
    Plan plan;
    plan.kernels.push_back(doubled());
    plan.buffers = an_argument_and_temporaries(3);
    auto launch = [](int from, int to) {
      return Launch{.kernel = 0, .arguments = {{.buffer = from}, {.buffer = to}}};
    };
    plan.steps.push_back({Copy{{.buffer = 0}, {.buffer = 1}, 64}});
    plan.steps.push_back({launch(1, 2)});
    if (changed) plan.steps.push_back({Copy{{.buffer = 2}, {.buffer = 1}, 64}});
    plan.steps.push_back({launch(1, 3)});
    plan.steps.push_back({Copy{{.buffer = 3}, {.buffer = 0}, 64}});
    eliminate_redundant_launches(plan);
    EXPECT_EQ(plan.steps.size(), changed ? 5u : 3u);
    EXPECT_EQ(std::get<Copy>(plan.steps.back().what).from.buffer, changed ? 3 : 2);
  }
}

/// What an iteration changes in place has to be made again in the next one.
TEST(RepeatedLaunches, WhatIsChangedInPlaceIsMadeInEachTurn) {
  for (bool changed : {false, true}) {
    Plan plan;
    plan.kernels.push_back(doubled());
    plan.kernels.push_back(doubled_in_place());
    plan.buffers = an_argument_and_temporaries(1);
    plan.num_counters = 1;
    CountedLoop loop{.counter = 0, .count = 3};
    loop.body.push_back({Launch{.kernel = 0, .arguments = {{.buffer = 0}, {.buffer = 1}}}});
    if (changed) loop.body.push_back({Launch{.kernel = 1, .arguments = {{.buffer = 1}}}});
    plan.steps.push_back({std::move(loop)});
    eliminate_redundant_launches(plan);
    EXPECT_EQ(plan.steps.size(), changed ? 1u : 2u);
    EXPECT_EQ(std::get<CountedLoop>(plan.steps.back().what).body.size(), changed ? 2u : 0u);
  }
}

}  // namespace
}  // namespace strata::compile
