// What each demand admits, and what is stated of arrays that do not meet it.
#include "strata/op/control/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "strata/base/error.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/verify.h"
#include "strata/op/evaluate.h"
#include "strata/op/testing/refused.h"

namespace strata::op {
namespace {

using Kind = Demand::Kind;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(),
                kInf = std::numeric_limits<float>::infinity();

bool meets(const Demand& d, float got, float want) {
  return !compare(d, Literal::scalar(got), Literal::scalar(want)).has_value();
}

TEST(Check, equal_is_equality_of_numbers) {
  EXPECT_TRUE(meets({.kind = Kind::equal}, 0.0f, -0.0f));
  EXPECT_FALSE(meets({.kind = Kind::equal}, kNaN, kNaN));
  EXPECT_FALSE(meets({.kind = Kind::equal}, 1.0f, std::nextafter(1.0f, 2.0f)));
  EXPECT_TRUE(meets({.kind = Kind::same}, kNaN, kNaN));
  EXPECT_FALSE(meets({.kind = Kind::bits}, 0.0f, -0.0f));
}

TEST(Check, close_counts_numbers_between) {
  float next = std::nextafter(1.0f, 2.0f), after = std::nextafter(next, 2.0f);
  EXPECT_TRUE(meets({.kind = Kind::close, .max_ulp = 1}, next, 1.0f));
  EXPECT_FALSE(meets({.kind = Kind::close, .max_ulp = 1}, after, 1.0f));
  EXPECT_FALSE(meets({.kind = Kind::close, .min_ulp = 2, .max_ulp = 3}, next, 1.0f));
  float tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_TRUE(meets({.kind = Kind::close, .max_ulp = 2}, tiny, -tiny));
  EXPECT_FALSE(meets({.kind = Kind::close, .max_ulp = 1}, tiny, -tiny));
}

TEST(Check, close_wants_infinities_the_same_and_nan_for_nan) {
  Demand d{.kind = Kind::close, .max_ulp = 1000};
  EXPECT_TRUE(meets(d, kInf, kInf));
  EXPECT_FALSE(meets(d, std::numeric_limits<float>::max(), kInf));
  EXPECT_FALSE(meets(d, -kInf, kInf));
  EXPECT_TRUE(meets(d, kNaN, -kNaN));
  EXPECT_FALSE(meets(d, 0.0f, kNaN));
}

TEST(Check, almost_is_an_absolute_distance) {
  Demand d{.kind = Kind::almost, .atol = 1e-3};
  EXPECT_TRUE(meets(d, 1000.0005f, 1000.0f));
  EXPECT_FALSE(meets(d, 0.002f, 0.0f));
  EXPECT_TRUE(meets(d, 0.0004f, -0.0004f));
  EXPECT_TRUE(meets(d, kInf, kInf));
  EXPECT_FALSE(meets(d, 1.0f, kInf));
  d.same_sign = true;
  EXPECT_FALSE(meets(d, 0.0004f, -0.0004f));
  EXPECT_TRUE(meets(d, 0.0004f, -0.0f));
}

TEST(Check, within_is_relative_to_what_is_wanted) {
  Demand d{.kind = Kind::within, .rtol = 0.1, .atol = 0.01};
  EXPECT_TRUE(meets(d, 11.0f, 10.0f));
  EXPECT_FALSE(meets(d, 11.2f, 10.0f));
  EXPECT_TRUE(meets(d, kNaN, kNaN));
  EXPECT_FALSE(meets(d, 1.0f, kInf));
}

TEST(Check, complex_numbers_are_measured_whole_or_by_part) {
  using C = std::complex<float>;
  auto got = Literal::scalar(C(1.0f, 0.1f)), want = Literal::scalar(C(1.0f, 0.0f));
  EXPECT_FALSE(compare({.kind = Kind::within, .rtol = 0.2}, got, want).has_value());
  EXPECT_TRUE(compare({.kind = Kind::almost, .atol = 0.01}, got, want).has_value());
}

TEST(Check, a_difference_says_where_and_how_far) {
  auto got = Literal::of<float>({2, 2}, {1, 2, 3, 5}),
       want = Literal::of<float>({2, 2}, {1, 2, 4, 4});
  Distance largest;
  auto d = compare({.kind = Kind::equal}, got, want, &largest);
  ASSERT_TRUE(d.has_value());
  EXPECT_EQ(to_string(*d), "at [1, 0]: got 3, want 4 (abs 1, ulp 4.19e+06), 2 elements differ");
  EXPECT_EQ(largest.abs, 1);
}

// ---- text and evaluation -----------------------------------------------------------------------

constexpr const char* kProgram = R"(module {
  func.func @main() {
    %cst = stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
    check.expect_eq %cst, %cst : tensor<2xf32>
    check.expect_eq_const %cst, dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
    check.expect_almost_eq %cst, %cst, tolerance = 1.000000e-01 : f64 : tensor<2xf32>
    check.expect_almost_eq_const %cst, dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
    check.expect_close %cst, %cst, max_ulp_difference = 18446744073709551615, min_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
    %0 = interpreter.probe %cst, probe_id = "here" : tensor<2xf32>
    check.expect_serialized_eq %0, probe_id = "here", iter = 0 : tensor<2xf32>
    stablehlo.custom_call @check.expect_eq(%cst, %cst) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    return
  }
}
)";

TEST(Check, text_is_read_and_printed_as_upstream_writes_it) {
  auto module = ir::parse(kProgram);
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_TRUE(ir::verify(**module).ok());
  EXPECT_EQ(ir::print(**module), kProgram);
  EXPECT_NO_THROW(evaluate((*module)->find("main")->body, {}));
}

TEST(Check, a_tolerance_is_read_with_and_without_its_type) {
  for (const char* tolerance : {"0.2", "2.0e-1", "0.2 : f64"})
    for (bool constant : {false, true}) {
      const std::string want = constant ? "dense<3.05> : tensor<f32>, tolerance = {}"
                                        : "%want, tolerance = {} : tensor<f32>";
      auto module = ir::parse(
          "func.func @main(%got: tensor<f32>, %want: tensor<f32>) {\ncheck.expect_almost_eq" +
          std::string(constant ? "_const" : "") + " %got, " +
          fmt::format(fmt::runtime(want), tolerance) + "\nreturn\n}");
      ASSERT_TRUE(module.ok()) << module.status().message();
      const Block& body = (*module)->find("main")->body;
      auto run = [&](float got) {
        evaluate(body, std::array{Literal::scalar(got), Literal::scalar(3.05f)});
      };
      EXPECT_NO_THROW(run(3.2f)) << tolerance;
      EXPECT_THROW(run(3.3f), Error) << tolerance;
    }
}

std::string problem(const std::string& operation) {
  auto module = ir::parse(
      "func.func @main(%a: tensor<2xf32>, %i: tensor<2xi32>) {\n" + operation + "\nreturn\n}", "f");
  if (!module.ok()) return module.status().message();
  return ir::verify(**module).message();
}

TEST(Check, c1_both_sides_have_one_type) {
  EXPECT_THAT(problem("check.expect_eq_const %a, dense<1> : tensor<2xi32>"),
              testing::says("f:2:1: expect_eq_const: (C1) both sides must have one type, got "
                            "tensor<2xf32> and tensor<2xi32>"));
}
TEST(Check, c2_closeness_is_of_floats) {
  EXPECT_THAT(
      problem("check.expect_close %i, %i, max_ulp_difference = 1 : tensor<2xi32>, tensor<2xi32>"),
      ::testing::HasSubstr("operands must be floats or complex, got tensor<2xi32>"));
}
TEST(Check, c3_a_probe_that_was_not_reached_is_a_failure) {
  auto module = ir::parse(
      "func.func @main(%a: tensor<2xf32>) {\ncheck.expect_serialized_eq %a, probe_id = \"nowhere\" "
      ": tensor<2xf32>\nreturn\n}");
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_THROW(evaluate((*module)->find("main")->body, std::array{Literal(Type(DType::f32, {2}))}),
               Error);
}

}  // namespace
}  // namespace strata::op
