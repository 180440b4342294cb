// JAX's assertions about shapes. (What other targets do: check_test.cc.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/verify.h"
#include "strata/op/evaluate.h"
#include "strata/op/shape/refine.h"

namespace strata::op {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<ir::Module> program() {
  catalog();
  auto module = ir::parse(R"(
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c = stablehlo.constant dense<2> : tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %ok = stablehlo.compare GE, %n, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%ok, %n, %c) {error_message = "size {0} is less than {1}: {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
  return %x : tensor<?xf32>
})");
  EXPECT_TRUE(module.ok()) << module.status().message();
  EXPECT_TRUE(ir::verify(**module).ok());
  return std::move(*module);
}

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.message();
  }
  return "";
}

TEST(ShapeAssertion, that_holds_is_gone_after_refinement) {
  auto module = program();
  const Block& body = module->functions[0]->body;
  auto refined = refine(body, {{Type(DType::f32, Shape::of({3})), std::nullopt}});
  for (const auto& op : refined->ops()) EXPECT_NE(op->name(), "stablehlo.custom_call");
  EXPECT_NO_THROW(evaluate(body, Literals{Literal(Type(DType::f32, Shape::of({3})))}));
}

TEST(ShapeAssertion, that_does_not_is_the_callers_mistake_in_the_programs_words) {
  auto module = program();
  const Block& body = module->functions[0]->body;
  const Type one(DType::f32, Shape::of({1}));
  EXPECT_EQ(message([&] { (void)refine(body, {{one, std::nullopt}}); }),
            "size 1 is less than 2: 1");
  EXPECT_EQ(message([&] { (void)evaluate(body, Literals{Literal(one)}); }),
            "size 1 is less than 2: 1");
}

TEST(ShapeAssertion, needs_a_condition) {
  auto module = ir::parse(
      "func.func @main(%x: tensor<f32>) {\n  stablehlo.custom_call @shape_assertion(%x) "
      "{has_side_effect = true} : (tensor<f32>) -> ()\n  return\n}");
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_THAT(message([&] {
                (void)evaluate((*module)->functions[0]->body, Literals{Literal::scalar(1.0f)});
              }),
              HasSubstr("@shape_assertion needs a condition of type i1"));
}

}  // namespace
}  // namespace strata::op
