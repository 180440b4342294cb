#include "strata/checkpoint/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "strata/op/control/check.h"

namespace strata::checkpoint {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr float kInf = std::numeric_limits<float>::infinity();

Checkpoint of(const std::vector<float>& w) {
  Checkpoint c{7, {}, {}};
  c.parts["params"]["w"] = Literal::of<float>({static_cast<std::int64_t>(w.size())}, w);
  c.parts["optimizer"]["count"] = Literal::scalar<std::int32_t>(7);
  c.notes = {{"data", R"({"next_batch":7,"sources":[{"epoch":1}]})"},
             {"config", R"({"run_name":"a"})"}};
  return c;
}

TEST(Diff, TheSameIsTheSame) {
  const Differences d = diff(of({1, NAN, -0.0f}), of({1, NAN, -0.0f}));
  EXPECT_TRUE(d.same());
  EXPECT_EQ(d.compared, 2u);
  EXPECT_THAT(d.others, IsEmpty());
}

TEST(Diff, DistancesAreOfTheElementsThatDiffer) {
  const Differences d =
      diff(of({3, 4, 1}), of({3, 4, std::nextafter(std::nextafter(1.0f, 2.0f), 2.0f)}));
  ASSERT_THAT(d.tensors, SizeIs(1));
  EXPECT_EQ(d.tensors[0].part, "params");
  EXPECT_EQ(d.tensors[0].tensor, "w");
  EXPECT_EQ(d.tensors[0].kind, "");
  EXPECT_EQ(d.tensors[0].count, 1);
  EXPECT_EQ(d.tensors[0].max_abs, 0x1p-22);
  EXPECT_EQ(d.tensors[0].max_ulp, 2);
  EXPECT_DOUBLE_EQ(d.tensors[0].relative_l2, 0x1p-22 / std::sqrt(26.0));
}

TEST(Diff, EqualNumbersOfOtherBitsDiffer) {
  const Differences d = diff(of({0.0f, 1}), of({-0.0f, 1}));
  ASSERT_THAT(d.tensors, SizeIs(1));
  EXPECT_EQ(d.tensors[0].count, 1);
  EXPECT_EQ(d.tensors[0].max_abs, 0);
  EXPECT_EQ(d.tensors[0].relative_l2, 0);
}

TEST(Diff, WhatIsNotFiniteIsInfinitelyFar) {
  const Differences d = diff(of({1, 2}), of({kInf, NAN}));
  ASSERT_THAT(d.tensors, SizeIs(1));
  EXPECT_EQ(d.tensors[0].count, 2);
  EXPECT_EQ(d.tensors[0].max_abs, kInf);
  EXPECT_EQ(d.tensors[0].max_ulp, kInf);
  EXPECT_FALSE(std::isfinite(d.tensors[0].relative_l2));
}

TEST(Diff, MissingTensorsAndOtherTypesAreNamed) {
  Checkpoint a = of({1}), b = of({1, 2});
  a.parts["params"]["gone"] = Literal::scalar(1.0f);
  b.parts["extra"]["new"] = Literal::scalar(1.0f);
  const Differences d = diff(a, b);
  ASSERT_THAT(d.tensors, SizeIs(3));
  EXPECT_EQ(d.tensors[0].kind, "only in the second");
  EXPECT_EQ(d.tensors[1].kind, "only in the first");
  EXPECT_EQ(d.tensors[2].kind, "tensor<1xf32> and tensor<2xf32>");
  EXPECT_FALSE(d.same());
}

TEST(Diff, TheStateOfTheDataCountsAndOtherNotesDoNot) {
  Checkpoint a = of({1}), b = of({1});
  b.notes["config"] = R"({"run_name":"b"})";
  b.step = 8;
  EXPECT_TRUE(diff(a, b).same());
  EXPECT_THAT(diff(a, b).others, SizeIs(2));
  b.notes["data"] = R"({"next_batch":7,"sources":[{"epoch":2}]})";
  const Differences d = diff(a, b);
  EXPECT_FALSE(d.same());
  ASSERT_THAT(d.data, SizeIs(1));
  EXPECT_EQ(d.data[0].member, "/sources/0/epoch");
  EXPECT_EQ(d.data[0].first, "1");
  EXPECT_EQ(d.data[0].second, "2");
  b.notes.erase("data");
  EXPECT_FALSE(diff(a, b).same());
}

TEST(Diff, ComplexElementsCountByTheirAbsoluteValue) {
  using C = std::complex<float>;
  Checkpoint a{1, {}, {}}, b{1, {}, {}};
  a.parts["p"]["z"] = Literal::of<C>({1}, {C(3, 4)});
  b.parts["p"]["z"] = Literal::of<C>({1}, {C(0, 0)});
  EXPECT_EQ(norms(a.parts["p"]["z"]).l2, 5);
  EXPECT_EQ(diff(a, b).tensors.at(0).max_abs, 5);
  EXPECT_EQ(diff(a, b).tensors.at(0).relative_l2, 1);
}

TEST(Diff, UlpsAreThoseOfTheChecks) {
  std::mt19937 random(1);
  for (DType dtype :
       {DType::f32, DType::bf16, DType::f16, DType::f64, DType::f8E5M2, DType::f8E4M3FN}) {
    Checkpoint a{1, {}, {}}, b{1, {}, {}};
    Literal x = Literal::full(Type(dtype, Shape{1}), 1), y = x;
    for (int i = 0; i < 300; ++i) {
      x = Literal::full(Type(dtype, Shape{1}),
                        std::ldexp(static_cast<double>(random() % 1000) - 500,
                                   static_cast<int>(random() % 9) - 4));
      y = Literal::full(Type(dtype, Shape{1}),
                        std::ldexp(static_cast<double>(random() % 1000) - 500,
                                   static_cast<int>(random() % 9) - 4));
      if (!std::isfinite(x.number(0)) || !std::isfinite(y.number(0)) || x.same_bits(y)) continue;
      a.parts["p"]["x"] = x;
      b.parts["p"]["x"] = y;
      ASSERT_EQ(diff(a, b).tensors.at(0).max_ulp, static_cast<double>(op::ulp_distance(x, y, 0)))
          << name(dtype) << x.number(0) << y.number(0);
    }
  }
}

TEST(Norms, LeaveOutWhatIsNotFinite) {
  const Norms n = norms(Literal::of<float>({4}, {-3, NAN, 4, kInf}));
  EXPECT_EQ(n.l2, 5);
  EXPECT_EQ(n.max_abs, 4);
  EXPECT_EQ(n.not_finite, 2);
  EXPECT_EQ(norms(Literal(Type(DType::f32, Shape{0}))).l2, 0);
}

}  // namespace
}  // namespace strata::checkpoint
