#include "strata/op/value_text.h"

#include <gtest/gtest.h>

namespace strata::op {
namespace {

TEST(ValueText, scalars_stand_on_one_line) {
  EXPECT_EQ(value_text(Literal::scalar<std::uint8_t>(1)), "tensor<ui8> {1}");
}

TEST(ValueText, a_line_for_each_row) {
  EXPECT_EQ(value_text(Literal::of<float>({2, 2}, {1, 2, -3, 0.5})),
            "tensor<2x2xf32> {\n  [\n    [1.000000e+00, 2.000000e+00],\n    [-3.000000e+00, "
            "5.000000e-01]\n  ]\n}");
}

TEST(ValueText, empty_dimensions) {
  EXPECT_EQ(value_text(Literal(Type(DType::i8, {0, 2}))), "tensor<0x2xi8> {\n  []\n}");
  EXPECT_EQ(value_text(Literal(Type(DType::i8, {2, 0}))),
            "tensor<2x0xi8> {\n  [\n    [],\n    []\n  ]\n}");
}

TEST(ValueText, complex_numbers_are_pairs) {
  EXPECT_EQ(value_text(Literal::of<std::complex<float>>({1}, {{3, 1}})),
            "tensor<1xcomplex<f32>> {\n  [[3.000000e+00, 1.000000e+00]]\n}");
}

}  // namespace
}  // namespace strata::op
