// Products of all iterations added up by one kernel: the bits of the reference evaluator for whole
// tiles and others, both directions, on each kind of processor.
#include "strata/compile/kernel/dot/accumulating_scan_gemm.h"

#include <algorithm>

#include "strata/compile/processor_testing.h"

namespace strata::compile {
namespace {

struct Case {
  std::int64_t turns, terms, rows, columns;
  DType dtype = DType::f32;
  bool left_first = true, carry_first = true, reverse = false, taken = true;
};

const Case kCases[] = {
    {40, 16, 64, 64},
    {33, 16, 64, 64, DType::f32, true, true, true},
    {17, 3, 7, 9, DType::f32, true, false},
    {9, 1, 130, 100, DType::f32, true, true, false, false},  // products of one term are maps
    {12, 5, 1, 200, DType::f32, true, true, true},
    {20, 8, 33, 72, DType::f32, false},
    {11, 64, 40, 24, DType::f64, false, false, true},
    {16, 32, 96, 260},
    {10, 4, 16, 8},
    {10, 4, 16, 7, DType::f32, true, true, false, false},    // too few columns for lanes
    {10, 4, 16, 16, DType::bf16, true, true, false, false},  // whose products use pairs
};

std::unique_ptr<ir::Block> program(const Case& c) {
  auto f = std::make_unique<ir::Block>(), body = std::make_unique<ir::Block>();
  const Shape lhs = c.left_first ? Shape{c.terms, c.rows} : Shape{c.rows, c.terms};
  ir::Value *sum = body->add_argument(Type(c.dtype, {c.rows, c.columns})),
            *x = body->add_argument(Type(c.dtype, lhs)),
            *y = body->add_argument(Type(c.dtype, {c.terms, c.columns}));
  ir::Builder in(*body), b(*f);
  ir::Value* product = op::dot_general(in, x, y, {{}, {}, {c.left_first ? 0 : 1}, {0}});
  body->results = {c.carry_first ? op::add(in, sum, product) : op::add(in, product, sum)};
  auto stacked = [&](const ir::Value* v) {
    std::vector<Dim> dims = v->shape().dims();
    dims.insert(dims.begin(), Dim(c.turns));
    return v->type().with(Shape(dims));
  };
  ir::Value *initial = f->add_argument(sum->type()), *xs = f->add_argument(stacked(x)),
            *ys = f->add_argument(stacked(y));
  f->results = op::scan(b, std::move(body), {}, {initial}, {xs, ys},
                        {.length = c.turns, .reverse = c.reverse});
  return f;
}

TEST(AccumulatingScanGemm, HasTheReferencesBitsOnEachKindOfProcessor) {
  for (const Case& c : kCases) {
    auto f = program(c);
    const std::vector<Literal> given = testing::arguments_of(*f, 3),
                               expected = op::evaluate(*f, given);
    for (const char* processor : {"x86-64-v3", "x86-64-v4"}) {
      SCOPED_TRACE(fmt::format("{} turns of {} x {} over {} {}, {}", c.turns, c.rows, c.columns,
                               c.terms, name(c.dtype), processor));
      const Plan plan = make_plan(*prepare(*f), {}, CpuTarget::named(processor));
      EXPECT_EQ(std::any_of(plan.kernels.begin(), plan.kernels.end(),
                            [](const auto& k) { return k->name == "accumulating_scan_gemm"; }),
                c.taken);
      testing::expect_same_bits({testing::run_as_on(processor, *f, given)}, expected, processor);
    }
    testing::expect_same_bits(testing::run_compiled(*f, given), expected, "compiled");
    testing::expect_same_bits(testing::run_compiled(*f, given, true), expected, "for any size");
  }
}

// Blocks are equal, so that threads end together.
TEST(AccumulatingScanGemm, GoesByEqualBlocks) {
  auto f = program({.turns = 64, .terms = 16, .rows = 64, .columns = 64});
  const Plan plan = make_plan(*prepare(*f), {}, CpuTarget::named("x86-64-v4"));
  ASSERT_EQ(plan.kernels.size(), 1u);
  EXPECT_EQ(plan.kernels[0]->grid, 4);
}

}  // namespace
}  // namespace strata::compile
