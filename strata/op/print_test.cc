// How values are printed, as StableHLO's interpreter prints them.
#include "strata/op/print.h"

#include <gtest/gtest.h>

#include <complex>

#include "strata/ir/pass/pass.h"
#include "strata/ir/text/parser.h"
#include "strata/op/evaluate.h"
#include "strata/op/world.h"

namespace strata::op {
namespace {

TEST(Print, a_row_a_line) {
  EXPECT_EQ(value_text(Literal::of<std::int8_t>({4}, {1, 2, -3, -4})), "tensor<4xi8> {\n  [1, 2, -3, -4]\n}");
  EXPECT_EQ(value_text(Literal::scalar(std::uint8_t{200})), "tensor<ui8> {200}");
  EXPECT_EQ(value_text(Literal::of<bool>({2, 1}, {true, false})), "tensor<2x1xi1> {\n  [\n    [true],\n    [false]\n  ]\n}");
  EXPECT_EQ(value_text(Literal::of<std::int64_t>({2, 2, 2}, {0, 1, 2, 3, 4, 0, 1, 2})),
            "tensor<2x2x2xi64> {\n  [\n    [\n      [0, 1],\n      [2, 3]\n    ],\n    [\n      [4, 0],\n      [1, 2]\n    ]\n  ]\n}");
}

TEST(Print, nothing_where_a_dimension_is_zero) {
  EXPECT_EQ(value_text(Literal(Type(DType::i8, {0, 2}))), "tensor<0x2xi8> {\n  []\n}");
  EXPECT_EQ(value_text(Literal(Type(DType::i8, {2, 0}))), "tensor<2x0xi8> {\n  [\n    [],\n    []\n  ]\n}");
  EXPECT_EQ(dense_value_text(Literal(Type(DType::i8, {2, 0}))), "dense<> : tensor<2x0xi8>");
}

TEST(Print, floats_and_complex_numbers) {
  EXPECT_EQ(value_text(Literal::of<float>({2}, {1.5f, -0.1f})), "tensor<2xf32> {\n  [1.500000e+00, -1.000000e-01]\n}");
  EXPECT_EQ(value_text(Literal::of<std::complex<float>>({1}, {{3.5f, 1}})),
            "tensor<1xcomplex<f32>> {\n  [[3.500000e+00, 1.000000e+00]]\n}");
}

TEST(Print, on_one_line) {
  EXPECT_EQ(dense_value_text(Literal::of<std::int32_t>({2, 2}, {1, 2, 3, 4})), "dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>");
  EXPECT_EQ(dense_value_text(Literal::of<std::int32_t>({2}, {7, 7})), "dense<7> : tensor<2xi32>");
  EXPECT_EQ(dense_value_text(Literal::of<std::complex<double>>({1}, {{1, 2}})),
            "dense<(1.000000e+00,2.000000e+00)> : tensor<1xcomplex<f64>>");
}

TEST(Print, processes_print_one_after_the_other) {
  auto module = ir::parse(R"(
func.func @f() {
  %0 = stablehlo.iota dim = 0 : tensor<2xi32>
  interpreter.print %0 : tensor<2xi32>
  return
}
func.func @main() {
  "interpreter.run_parallel"() {programs = [[@f, @f]]} : () -> ()
  return
})");
  ASSERT_TRUE(module.ok()) << module.status().message();
  ir::inline_calls(**module);
  World world;
  std::string printed;
  world.print = [&](const std::string& text) { printed += text; };
  evaluate((*module)->entry()->body, {}, world);
  std::string one = "%0 = tensor<2xi32> {\n  [0, 1]\n}\n";
  EXPECT_EQ(printed, one + one);
}

}  // namespace
}  // namespace strata::op
