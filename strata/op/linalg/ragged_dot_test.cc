#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::run;

struct Dims {
  Ints lhs_batch, rhs_batch, lhs_contract, rhs_contract, ragged, group;
};
Attrs attrs_of(const Dims& d) {
  return {{"lhs_batching_dimensions", d.lhs_batch},
          {"rhs_batching_dimensions", d.rhs_batch},
          {"lhs_contracting_dimensions", d.lhs_contract},
          {"rhs_contracting_dimensions", d.rhs_contract},
          {"lhs_ragged_dimensions", d.ragged},
          {"rhs_group_dimensions", d.group}};
}
const Dims kFree{{}, {}, {1}, {1}, {0}, {0}};  // [m, k], [g, k, n] -> [m, n]
const Dims kFreeBatched{{0}, {1}, {2},
                        {2}, {1}, {0}};              // [b, m, k], [g, b, k, n], [b, g] -> [b, m, n]
const Dims kContracting{{}, {}, {1}, {0}, {1}, {}};  // [m, k], [k, n] -> [g, m, n]
const Dims kContractingBatched{{0}, {0}, {2},
                               {1}, {2}, {}};       // [b, m, k], [b, k, n], [b, g] -> [g, b, m, n]
const Dims kBatching{{0}, {0}, {2}, {1}, {0}, {}};  // [b, m, k], [b, k, n] -> [b, m, n]

const bool samples = add_samples("chlo.ragged_dot", [](std::vector<Sample>& out) {
  auto sample = [&](const char* what, const Dims& d, DType t, Shape l, Shape r, Literal sizes,
                    Shape result) {
    out.push_back({.what = what,
                   .operands = {random_literal(Type(t, l), 1, -3, 4),
                                random_literal(Type(t, r), 2, -3, 4), std::move(sizes)},
                   .attrs = attrs_of(d),
                   .results = {Type(t, result)}});
  };
  Literal three = Literal::of<std::int32_t>({3}, {2, 0, 3});
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::i32})
    sample("free", kFree, t, {6, 2}, {3, 2, 4}, three, {6, 4});
  sample("free, batched", kFreeBatched, DType::f32, {2, 4, 3}, {2, 2, 3, 2},
         Literal::of<std::int64_t>({2, 2}, {1, 3, 2, 1}), {2, 4, 2});
  sample("contracting", kContracting, DType::f32, {2, 5}, {5, 3}, three, {3, 2, 3});
  sample("contracting, batched", kContractingBatched, DType::f32, {2, 2, 4}, {2, 4, 3},
         Literal::of<std::int32_t>({2, 2}, {1, 3, 0, 2}), {2, 2, 2, 3});
  sample("batching", kBatching, DType::f32, {4, 2, 3}, {4, 3, 2},
         Literal::of<std::int32_t>({2}, {1, 3}), {4, 2, 2});
  sample("empty", kFree, DType::f32, {0, 2}, {3, 2, 4}, three, {0, 4});
});

testing::Program called(const Dims& d) {
  return [=](Builder& b, const Values& v) {
    return b.create("chlo.ragged_dot", v, attrs_of(d)).results();
  };
}

TEST(RaggedDot, RowsMeetTheirGroupsMatrix) {
  Literal y =
      run({Literal::of<float>({4, 1}, {1, 2, 3, 4}), Literal::of<float>({2, 1, 1}, {10, 100}),
           Literal::of<std::int32_t>({2}, {1, 2})},
          called(kFree))[0];
  EXPECT_TRUE(testing::same(y, Literal::of<float>({4, 1}, {10, 200, 300, 0})))
      << testing::to_text(y);
}

TEST(RaggedDot, OneProductForEachGroupOfTerms) {
  Literal y =
      run({Literal::of<float>({1, 4}, {1, 2, 3, 4}), Literal::of<float>({4, 1}, {1, 10, 100, 1000}),
           Literal::of<std::int32_t>({2}, {1, 2})},
          called(kContracting))[0];
  EXPECT_TRUE(testing::same(y, Literal::of<float>({2, 1, 1}, {1, 320}))) << testing::to_text(y);
}

TEST(RaggedDot, WhatIsInNoGroupIsNotRead) {
  float inf = std::numeric_limits<float>::infinity();
  Literal y =
      run({Literal::of<float>({1, 3}, {1, 2, inf}), Literal::of<float>({3, 1}, {1, 10, inf}),
           Literal::of<std::int32_t>({2}, {1, 1})},
          called(kContracting))[0];
  EXPECT_TRUE(testing::same(y, Literal::of<float>({2, 1, 1}, {1, 20}))) << testing::to_text(y);
}

void expect_error(const Dims& d, const std::vector<Type>& types, const std::string& message) {
  try {
    testing::build(types, called(d));
    ADD_FAILURE() << "no error; expected " << message;
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
  }
}

TEST(RaggedDot, RefusesBrokenConstraints) {
  Type l(DType::f32, {6, 2}), r(DType::f32, {3, 2, 4}), g(DType::i32, {3});
  Dims d = kFree;
  d.ragged = {};
  expect_error(d, {l, r, g}, "lhs must have exactly one ragged dimension, got 0");
  d.ragged = {2};
  expect_error(d, {l, r, g}, "lhs_ragged_dimensions has 2, which is out of range for rank 2");
  d = kFree, d.group = {};
  expect_error(d, {l, r, g}, "rhs must have 1 group dimensions for this ragged dimension, got 0");
  d.group = {1};
  expect_error(d, {l, r, g}, "the group dimension 1 of rhs is batching or contracting");
  d.group = {3};
  expect_error(d, {l, r, g}, "rhs_group_dimensions has 3");
  d = kContracting, d.group = {1};
  expect_error(d, {l, Type(DType::f32, {2, 4}), g}, "rhs must have 0 group dimensions");
  expect_error(
      kFree, {l, r, Type(DType::i32, {2})},
      "the group dimension 0 of tensor<3x2x4xf32> must have the size of the last of tensor<2xi32>");
  expect_error(kFree, {l, r, Type(DType::i32, {2, 3})},
               "group_sizes must have rank 1, got tensor<2x3xi32>");
  expect_error(kFree, {l, r, Type(DType::f32, {3})}, "group_sizes must be lists of integers");
  expect_error(
      kFreeBatched,
      {Type(DType::f32, {2, 4, 3}), Type(DType::f32, {2, 2, 3, 2}), Type(DType::i32, {3, 2})},
      "dimension 0 of group_sizes tensor<3x2xi32>");
  expect_error(
      kFree, {l, Type(DType::f32, {3, 5, 4}), g},
      "contracting dimensions 1 of tensor<6x2xf32> and 1 of tensor<3x5x4xf32> differ in size");
}

}  // namespace
}  // namespace strata::op
