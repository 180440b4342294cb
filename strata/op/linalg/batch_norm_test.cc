#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/samples.h"
#include "strata/op/testing/refused.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::run;

Attrs attrs_of(std::int64_t feature, double epsilon) {
  return {{"feature_index", feature}, {"epsilon", epsilon}};
}

/// Operand, then the other operands: vectors (positive) of the feature dimension, and of the
/// operand's shape where `whole`.
Sample sample(const char* what, DType t, Shape shape, std::int64_t feature,
              const std::vector<bool>& whole) {
  Sample s{.what = what,
           .operands = {random_literal(Type(t, shape), 1)},
           .attrs = attrs_of(feature, 0.25)};
  Shape vector{shape[static_cast<int>(feature)]};
  for (bool w : whole)
    s.operands.push_back(
        random_literal(Type(t, w ? shape : vector), 2 + s.operands.size(), 0.5, 2));
  return s;
}
MakeSamples samples_with(const std::vector<bool>& whole) {
  return [whole](std::vector<Sample>& out) {
    for (DType t : {DType::f32, DType::f64, DType::bf16, DType::f16})
      out.push_back(sample("features last", t, {2, 2, 3}, 2, whole));
    out.push_back(sample("features second", DType::f64, {3, 2, 2}, 1, whole));
    out.push_back(sample("no features", DType::f32, {2, 0}, 1, whole));
    out.push_back(sample("rank 1", DType::f32, {4}, 0, whole));
  };
}
const bool inference =
    add_samples("stablehlo.batch_norm_inference", samples_with({false, false, false, false}));
const bool training = add_samples("stablehlo.batch_norm_training", samples_with({false, false}));
const bool grad =
    add_samples("stablehlo.batch_norm_grad", samples_with({false, false, false, true}));

testing::Program called(const char* name, const Attrs& attrs) {
  return [=](Builder& b, const Values& v) { return b.create(name, v, attrs).results(); };
}
Literal x() { return Literal::of<double>({2, 2, 2}, {1, 2, 3, 4, 3, 4, 1, 2}); }
Literal pair(double a, double b) { return Literal::of<double>({2}, {a, b}); }

TEST(BatchNorm, ExamplesOfTheSpecification) {
  Literals y =
      run({x(), pair(1, 1), pair(1, 1)}, called("stablehlo.batch_norm_training", attrs_of(2, 0)));
  EXPECT_TRUE(testing::same(y[0], Literal::of<double>({2, 2, 2}, {0, 0, 2, 2, 2, 2, 0, 0})))
      << testing::to_text(y[0]);
  EXPECT_TRUE(testing::same(y[1], pair(2, 3)));
  EXPECT_TRUE(testing::same(y[2], pair(1, 1)));
  y = run({x(), pair(1, 1), pair(1, 1), pair(2, 3), pair(1, 1)},
          called("stablehlo.batch_norm_inference", attrs_of(2, 0)));
  EXPECT_TRUE(testing::same(y[0], Literal::of<double>({2, 2, 2}, {0, 0, 2, 2, 2, 2, 0, 0})));
  y = run(
      {x(), pair(1, 1), pair(2, 3), pair(1, 1), Literal::full(Type(DType::f64, {2, 2, 2}), 0.1)},
      called("stablehlo.batch_norm_grad", attrs_of(2, 0)));
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_NEAR(y[0].number(i), 0, 1e-15);
  EXPECT_NEAR(y[1].number(0), 0, 1e-15);
  EXPECT_NEAR(y[2].number(1), 0.4, 1e-15);
}

void expect_error(const char* name, const std::vector<Type>& types, Attrs attrs,
                  const std::string& message) {
  try {
    testing::build(types, called(name, attrs));
    ADD_FAILURE() << "no error; expected " << message;
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::says(message));
  }
}

TEST(BatchNorm, RefusesBrokenConstraints) {
  Type a(DType::f32, {2, 3}), v(DType::f32, {3}), w(DType::f32, {2}), d(DType::f64, {3});
  const char *train = "stablehlo.batch_norm_training", *infer = "stablehlo.batch_norm_inference",
             *back = "stablehlo.batch_norm_grad";
  expect_error(train, {a, v, v}, attrs_of(2, 0),
               "(C1) feature_index 2 is out of range for tensor<2x3xf32>");
  expect_error(train, {a, d, v}, attrs_of(1, 0), "(C2) scale must have the operand's dtype");
  expect_error(
      train, {a, w, v}, attrs_of(1, 0),
      "(C3) scale must have the size of dimension 1 of tensor<2x3xf32>, got tensor<2xf32>");
  expect_error(train, {a, v, w}, attrs_of(1, 0), "(C4) offset");
  expect_error(infer, {a, v, v, w, v}, attrs_of(1, 0), "(C5) mean");
  expect_error(infer, {a, v, v, v, w}, attrs_of(1, 0), "(C6) variance");
  expect_error(back, {a, v, v, v, Type(DType::f32, {3, 2})}, attrs_of(1, 0),
               "(C3) grad_output must have the operand's shape");
  expect_error(back, {a, v, w, v, a}, attrs_of(1, 0), "(C4) mean");
  expect_error(back, {a, w, v, v, a}, attrs_of(1, 0), "(C5) scale");
  Type i(DType::i32, {2, 3}), iv(DType::i32, {3});
  expect_error(train, {i, iv, iv}, attrs_of(1, 0), "(I1) takes floats");
}

}  // namespace
}  // namespace strata::op
