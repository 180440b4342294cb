// What pages give back is near what went in, and no worse than the format says.
#include "strata/nn/attention/page_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/base/error.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/attention/cached_attention.h"

namespace strata::nn {
namespace {

class PageFormatTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

TEST_F(PageFormatTest, EightBitsAreWithinHalfAStep) {
  const Array x = random::normal(random::key(3), {40, 3, 16}) *
                  exp(random::normal(random::key(4), {40, 3, 1}) * 4.0f);
  const Array stored = to_pages(x, DType::i8);
  EXPECT_EQ(stored.shape(-1), page_width(DType::i8, 16));
  EXPECT_EQ(stored.dtype(), DType::i8);
  const auto want = x.to_vector<double>(), got = from_pages(stored, DType::f32).to_vector<double>();
  for (std::size_t row = 0; row < want.size(); row += 16) {
    double most = 0;
    for (std::size_t i = 0; i < 16; ++i) most = std::max(most, std::abs(want[row + i]));
    for (std::size_t i = 0; i < 16; ++i)
      ASSERT_NEAR(got[row + i], want[row + i], most / 254 * (1 + 1e-5)) << row;
  }
  // Once stored, they stay.
  const Array again = from_pages(to_pages(from_pages(stored, DType::f32), DType::i8), DType::f32);
  const auto twice = again.to_vector<double>();
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(twice[i], got[i], std::abs(got[i]) * 3e-7);
}

TEST_F(PageFormatTest, NarrowFloatsAreRounded) {
  const Array x = array({0.1f, -3.3f, 1000.0f, -1e9f, 0.0f});
  EXPECT_EQ(from_pages(to_pages(x, DType::f8E4M3FN), DType::f32).to_vector<float>(),
            (std::vector<float>{0.1015625f, -3.25f, 448.0f, -448.0f, 0.0f}));
  EXPECT_EQ(from_pages(to_pages(x, DType::bf16), DType::f32).to_vector<float>(),
            x.astype(DType::bf16).astype(DType::f32).to_vector<float>());
}

TEST_F(PageFormatTest, WhatIsNoNumberStaysSo) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(),
                  kInf = std::numeric_limits<float>::infinity();
  const Array x = array(std::vector<float>{1, kNaN, 1, kInf, 0, 0}, Sizes{3, 2});
  const auto back = from_pages(to_pages(x, DType::i8), DType::f32).to_vector<float>();
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(std::isnan(back[static_cast<std::size_t>(i)])) << i;
  EXPECT_EQ(back[4], 0);
  EXPECT_EQ(back[5], 0);
}

TEST_F(PageFormatTest, SaysWhatFits) {
  EXPECT_TRUE(holds(DType::i8, DType::bf16));
  EXPECT_TRUE(holds(DType::f64, DType::f64));
  EXPECT_FALSE(holds(DType::f32, DType::bf16)) << "wider ones are of no use";
  EXPECT_FALSE(holds(DType::i8, DType::f64));
  const Array tokens = zeros({1, 1, 2, 6}), table = zeros({1, 1}, DType::i32),
              first = zeros({1}, DType::i32), count = ones({1}, DType::i32);
  EXPECT_NO_THROW(std::ignore =
                      write_pages(zeros({1, 4, 2, 10}, DType::i8), tokens, table, first, count));
  EXPECT_THROW(
      std::ignore = write_pages(zeros({1, 4, 2, 6}, DType::i8), tokens, table, first, count),
      Error);
  EXPECT_THROW(
      std::ignore = write_pages(zeros({1, 4, 2, 6}, DType::i32), tokens, table, first, count),
      Error);
}

/// softmax(q k^T) v of numbers that went through pages of a dtype.
Array attend(DType pages, const Array& q, const Array& k, const Array& v) {
  const std::int64_t length = q.shape(1), d = k.shape(3);
  const Array table = expand_dims(arange(length / 8), 0).astype(DType::i32),
              first = zeros({1}, DType::i32),
              count = full({1}, static_cast<double>(length), DType::i32);
  const auto filled = [&](const Array& x) {
    return write_pages(zeros({length / 8, 8, 2, page_width(pages, d)}, pages), x, table, first,
                       count);
  };
  return cached_attention(q, filled(k), filled(v), table, first, count);
}

TEST_F(PageFormatTest, AttentionSeesWhatPagesHold) {
  const auto draw = [](int seed, std::int64_t heads) {
    return random::normal(random::key(seed), {1, 160, heads, 8});
  };
  const Array q = draw(1, 4), k = draw(2, 2), v = draw(3, 2);
  const auto exact = attend(DType::f32, q, k, v).to_vector<double>();
  for (const auto& [pages, bound] :
       {std::pair(DType::i8, 0.02), {DType::f8E4M3FN, 0.1}, {DType::bf16, 0.01}}) {
    const auto got = attend(pages, q, k, v).to_vector<double>();
    // To the bit that of the numbers that pages give back.
    const auto through = attend(DType::f32, q, from_pages(to_pages(k, pages), DType::f32),
                                from_pages(to_pages(v, pages), DType::f32))
                             .to_vector<double>();
    EXPECT_EQ(got, through) << name(pages);
    double error = 0, size = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      error += (got[i] - exact[i]) * (got[i] - exact[i]);
      size += exact[i] * exact[i];
    }
    EXPECT_LT(std::sqrt(error / size), bound) << name(pages);
    EXPECT_GT(error, 0) << name(pages);
  }
}

}  // namespace
}  // namespace strata::nn
