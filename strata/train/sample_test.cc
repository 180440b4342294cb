#include "strata/train/sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "strata/base/error.h"

namespace strata::train {
namespace {

/// Logits of a small range of values, so that some are equal.
std::vector<float> logits_of(std::uint64_t seed, std::size_t count) {
  std::vector<float> out(count);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<float>(std::floor(uniform_number(seed, i) * 25)) / 4.0f - 3.0f;
  return out;
}

/// The definition, by a full sort.
std::vector<double> sorted_twin(const std::vector<float>& logits, const Sampling& s) {
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  std::vector<double> p(logits.size());
  if (s.temperature == 0) {
    p[order[0]] = 1;
    return p;
  }
  auto normalise = [&] {
    const double total = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& x : p) x /= total;
  };
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = std::exp(logits[i] / s.temperature);
  for (std::size_t rank = 0; rank < p.size(); ++rank)
    if (s.top_k > 0 && rank >= static_cast<std::size_t>(s.top_k)) p[order[rank]] = 0;
  normalise();
  double before = 0;
  for (std::size_t i : order) {
    const double mine = p[i];
    if (before >= s.top_p) p[i] = 0;
    before += mine;
  }
  normalise();
  return p;
}

TEST(Sample, DistributionIsItsDefinition) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const std::size_t count : {1u, 2u, 17u, 256u}) {
      const std::vector<float> logits = logits_of(seed, count);
      for (const double temperature : {0.0, 0.3, 1.0, 2.5})
        for (const std::int64_t top_k : {0, 1, 3, 300})
          for (const double top_p : {1e-9, 0.2003, 0.7001, 0.9907, 1.0}) {
            const Sampling s{temperature, top_k, top_p};
            const std::vector<double> got = distribution(logits, s), want = sorted_twin(logits, s);
            for (std::size_t i = 0; i < count; ++i)
              ASSERT_NEAR(got[i], want[i], 1e-12)
                  << "token " << i << ", temperature " << temperature << ", top_k " << top_k
                  << ", top_p " << top_p;
          }
    }
  }
}

TEST(Sample, FrequenciesAreTheProbabilities) {
  // Chi-square with a fixed seed; 99.9 % of right samplers stay below the bound of each number of
  // tokens.
  const std::vector<float> logits = {0.5f, -1, 2, 0.25f, -0.5f, 1, 1, -3};
  constexpr int kDraws = 40000;
  for (const auto& [sampling, bound] :
       {std::pair(Sampling{1.0, 0, 1.0}, 24.32), std::pair(Sampling{0.7, 5, 1.0}, 18.47),
        std::pair(Sampling{1.5, 0, 0.9}, 22.46), std::pair(Sampling{1.0, 4, 0.8}, 16.27)}) {
    const std::vector<double> p = distribution(logits, sampling);
    std::vector<int> counts(logits.size());
    for (int i = 0; i < kDraws; ++i)
      ++counts[static_cast<std::size_t>(
          sample(logits, sampling, uniform_number(7, static_cast<std::uint64_t>(i))))];
    double chi_square = 0;
    for (std::size_t t = 0; t < p.size(); ++t) {
      if (p[t] == 0) {
        EXPECT_EQ(counts[t], 0) << "what is cut off is never drawn";
      } else {
        chi_square += (counts[t] - kDraws * p[t]) * (counts[t] - kDraws * p[t]) / (kDraws * p[t]);
      }
    }
    EXPECT_LT(chi_square, bound) << "top_k " << sampling.top_k << ", top_p " << sampling.top_p;
  }
}

TEST(Sample, DrawInvertsTheSum) {
  const std::vector<double> p = {0, 0.25, 0, 0.5, 0.25, 0};
  EXPECT_EQ(draw(p, 0), 1);
  EXPECT_EQ(draw(p, 0.2499), 1);
  EXPECT_EQ(draw(p, 0.25), 3);
  EXPECT_EQ(draw(p, 0.7499), 3);
  EXPECT_EQ(draw(p, 0.75), 4);
  EXPECT_EQ(draw(p, std::nextafter(1.0, 0.0)), 4);
  EXPECT_EQ(draw(std::vector<double>{0.3, 0.3, 0.3, 0}, 0.95), 2)
      << "rounding may leave a gap below 1";
}

TEST(Sample, TemperatureZeroTakesTheFirstOfTheLargest) {
  EXPECT_EQ(sample(std::vector<float>{1, 3, 3, 2}, {.temperature = 0}, 0.99), 1);
  EXPECT_EQ(
      sample(std::vector<float>{1, 3, 3, 2}, {.temperature = 0, .top_k = 3, .top_p = 0.5}, 0.99),
      1);
}

TEST(Sample, LogitsThatAreNoNumbers) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  EXPECT_EQ(sample(std::vector<float>{nan, 2, -inf}, {}, 0.5), 1);
  EXPECT_THROW(sample(std::vector<float>{nan, -inf}, {}, 0.5), Error);
}

TEST(Sample, UniformNumbers) {
  double sum = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const double u = uniform_number(3, i);
    ASSERT_TRUE(u >= 0 && u < 1);
    sum += u;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.01);
  EXPECT_NE(uniform_number(0, 1), uniform_number(1, 1));
}

}  // namespace
}  // namespace strata::train
