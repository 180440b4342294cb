// Tuples, tokens, composites: what runs of them, and their constraints.
#include "strata/op/shape/tuple.h"

#include "strata/op/build.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"
#include "strata/op/testing/refused.h"

namespace strata::op {
namespace {

const bool create_registered = add_samples("stablehlo.create_token", [](std::vector<Sample>& out) {
  for (const char* what : {"a token", "another", "a third"})
    out.push_back({.what = what, .operands = {}});
});
TEST(tuple, is_gone_before_it_runs) {
  Block block;
  Builder b(block);
  Value *x = block.add_argument(Type(DType::f32, {2})),
        *y = block.add_argument(Type::scalar(DType::i32));
  Value* inner = b.create("stablehlo.tuple", {y}).result();
  Value* outer = b.create("stablehlo.tuple", {x, inner}).result();
  EXPECT_EQ(outer->type().to_string(), "tuple<tensor<2xf32>, tuple<tensor<i32>>>");
  auto element = [&](Value* tuple, std::int64_t i) {
    return b.create("stablehlo.get_tuple_element", {tuple}, {{"index", i}}).result();
  };
  block.results = {element(element(outer, 1), 0), element(outer, 0)};
  EXPECT_TRUE(has_tuples(block));
  EXPECT_TRUE(without_tuples(block)->ops().empty());
  Literals in{random_literal(x->type(), 1), Literal::scalar(std::int32_t{7})},
      out = evaluate(block, in);
  EXPECT_TRUE(out[0].same_bits(in[1]) && out[1].same_bits(in[0]));
}

using tuple_ = testing::Constraint;
TEST_F(tuple_, may_not_leave_the_program) {
  block_.results = create("stablehlo.tuple", {f32({2})}).results();
  EXPECT_REFUSED(without_tuples(block_), "tuple: a result is tuple<tensor<2xf32>>");
}
TEST_F(tuple_, get_tuple_element_c1) {
  Value* tuple = create("stablehlo.tuple", {f32({2})}).result();
  EXPECT_REFUSED(create("stablehlo.get_tuple_element", {tuple}, {{"index", std::int64_t{1}}}),
                 "get_tuple_element: (C1) there is no element 1");
  EXPECT_REFUSED(create("stablehlo.get_tuple_element", {f32({2})}, {{"index", std::int64_t{0}}}),
                 "(I1) the operand must be a tuple");
}
TEST_F(tuple_, composite_c1_c2) {
  auto make = [&](const char* name, const char* symbol) {
    create("stablehlo.composite", {},
           {{"name", std::string(name)}, {"decomposition", ir::Opaque{symbol}}}, {});
  };
  EXPECT_REFUSED(make("plain", "@f"), "composite: (C1) the name plain has no dialect");
  EXPECT_REFUSED(make("a.b", "f"), "(C2) the decomposition f names no function");
}

}  // namespace
}  // namespace strata::op
