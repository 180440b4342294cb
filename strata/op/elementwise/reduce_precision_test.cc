// reduce_precision: samples, constraints, and what becomes of ties, overflow, subnormals and NaN.
#include <cmath>
#include <limits>

#include "strata/op/build.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"
#include "strata/op/testing/refused.h"

namespace strata::op {
namespace {

Attrs format(std::int64_t exponent, std::int64_t mantissa) {
  return {{"exponent_bits", exponent}, {"mantissa_bits", mantissa}};
}

const bool registered = add_samples("stablehlo.reduce_precision", [](std::vector<Sample>& out) {
  for (DType dtype : {DType::bf16, DType::f16, DType::f32, DType::f64})
    for (auto [exponent, mantissa] :
         {std::pair<std::int64_t, std::int64_t>{5, 10}, {8, 7}, {4, 3}, {8, 0}, {3, 0}, {11, 52}}) {
      out.push_back({.what = "numbers",
                     .operands = {random_literal(Type(dtype, {3, 17}), 1, -500, 500)},
                     .attrs = format(exponent, mantissa),
                     .smooth = false});
      out.push_back({.what = "edge values",
                     .operands = {edge_literal(dtype)},
                     .attrs = format(exponent, mantissa),
                     .smooth = false});
    }
  out.push_back({.what = "a scalar, kept",
                 .operands = {Literal::full(Type::scalar(DType::f64), 1.5)},
                 .attrs = format(11, 52)});
  out.push_back(
      {.what = "no elements", .operands = {Literal(Type(DType::f32, {0}))}, .attrs = format(5, 2)});
});

float reduced(float x, std::int64_t exponent, std::int64_t mantissa) {
  Block block;
  Builder b(block);
  block.results =
      b.create("stablehlo.reduce_precision", {block.add_argument(Type::scalar(DType::f32))},
               format(exponent, mantissa))
          .results();
  return evaluate(block, std::vector<Literal>{Literal::scalar(x)})[0].span<float>()[0];
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(reduce_precision, rounds_ties_to_even) {
  EXPECT_EQ(reduced(1.0625f, 8, 3), 1.0f);
  EXPECT_EQ(reduced(1.1875f, 8, 3), 1.25f);
  EXPECT_EQ(reduced(1.99f, 8, 3), 2.0f);
}
TEST(reduce_precision, overflows_to_infinity) {
  EXPECT_EQ(reduced(65504.0f, 5, 10), 65504.0f);
  EXPECT_EQ(reduced(65520.0f, 5, 10), kInfinity);  // rounds into the next exponent
  EXPECT_EQ(reduced(-1e30f, 5, 10), -kInfinity);
}
TEST(reduce_precision, has_no_subnormals_of_its_own) {
  EXPECT_EQ(reduced(0x1p-14f, 5, 10), 0x1p-14f);
  EXPECT_EQ(reduced(-0x1p-15f, 5, 10), 0.0f);
  EXPECT_TRUE(std::signbit(reduced(-0x1p-15f, 5, 10)));
  EXPECT_EQ(reduced(0x1p-140f, 8, 23), 0x1p-140f) << "with all exponent bits a subnormal stays";
}
TEST(reduce_precision, keeps_nan) {
  EXPECT_TRUE(std::isnan(reduced(std::nanf(""), 5, 2)));
  EXPECT_TRUE(std::isnan(reduced(std::nanf(""), 8, 0)));
}
TEST(reduce_precision, has_no_nan_in_few_exponent_bits_without_a_mantissa) {
  EXPECT_EQ(reduced(std::nanf(""), 5, 0), kInfinity);
  EXPECT_EQ(reduced(-std::nanf(""), 2, 0), kInfinity);
}

using reduce_precision_ = testing::Constraint;
TEST_F(reduce_precision_, i1) {
  EXPECT_REFUSED(create("stablehlo.reduce_precision", {i32({2})}, format(5, 2)),
                 "reduce_precision: (I1) takes floats");
}
TEST_F(reduce_precision_, c2) {
  EXPECT_REFUSED(create("stablehlo.reduce_precision", {f32({2})}, format(0, 2)),
                 "(C2) exponent_bits must be at least 1");
}
TEST_F(reduce_precision_, c3) {
  EXPECT_REFUSED(create("stablehlo.reduce_precision", {f32({2})}, format(5, -1)),
                 "(C3) mantissa_bits must be");
}

}  // namespace
}  // namespace strata::op
