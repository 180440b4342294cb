// The order of elements: shuffles and mixes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "strata/data/mix.h"
#include "strata/data/shuffle.h"

namespace strata::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::uint64_t> images(std::uint64_t n, std::uint32_t seed, std::uint64_t count) {
  std::vector<std::uint64_t> out;
  for (std::uint64_t i = 0; i < count; ++i) out.push_back(index_shuffle(i, n - 1, seed));
  return out;
}

TEST(IndexShuffle, GivesGrainsNumbers) {
  EXPECT_THAT(images(10, 42, 10), ElementsAre(8, 6, 7, 9, 0, 5, 1, 2, 4, 3));
  EXPECT_THAT(images(10, 0, 10), ElementsAre(0, 4, 6, 7, 8, 3, 1, 9, 5, 2));
  EXPECT_THAT(images(5, 1, 5), ElementsAre(1, 2, 3, 0, 4));
  EXPECT_THAT(images(1000, 42, 8), ElementsAre(394, 591, 809, 524, 88, 975, 241, 664));
  EXPECT_THAT(images(1000000, 42, 8),
              ElementsAre(42268, 341132, 759687, 923295, 377951, 21919, 980580, 751404));
  EXPECT_THAT(images(1234567892, 27, 6),
              ElementsAre(103931463, 222438862, 118128102, 948395895, 130107358, 123146559));
  EXPECT_THAT(images((std::uint64_t{1} << 40) + 5, 7, 4),
              ElementsAre(438306820087, 562939060878, 408480898010, 742807918070));
}

TEST(IndexShuffle, IsAPermutation) {
  for (std::uint64_t n : {1, 2, 3, 255, 256, 257, 5000}) {
    std::vector<std::uint64_t> all = images(n, 9, n);
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), n);
  }
}

TEST(IndexShuffle, ReproducesGrainsTwoImagesOfOne) {
  EXPECT_EQ(index_shuffle(0, 65536, 42), 43043u);
  EXPECT_EQ(index_shuffle(65536, 65536, 42), 43043u);
}

TEST(Permute, IsAPermutationOfEverySize) {
  for (std::uint64_t n : {1, 2, 3, 1000, 65535, 65536, 65537, 65538, 262145}) {
    std::vector<bool> seen(n);
    for (std::uint64_t i = 0; i < n; ++i) seen[permute(i, n, 42)] = true;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), static_cast<std::ptrdiff_t>(n));
  }
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(permute(i, 1000, 7), index_shuffle(i, 999, 7));
}

std::vector<std::size_t> sources(const std::vector<double>& weights, std::int64_t count) {
  auto mix = Mix::make(weights);
  std::vector<std::size_t> out;
  for (std::int64_t k = 0; k < count; ++k) out.push_back(mix->at(k).source);
  return out;
}

TEST(Mix, GivesGrainsNumbers) {
  EXPECT_THAT(sources({0.7, 0.3}, 12), ElementsAre(0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0));
  EXPECT_THAT(sources({0.9, 0.1}, 10), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 1));
  EXPECT_THAT(sources({0.1, 0.2, 0.7}, 12), ElementsAre(0, 1, 2, 2, 2, 1, 2, 2, 2, 2, 0, 1));
  EXPECT_THAT(Mix::make({0.7, 0.3})->parts(), ElementsAre(233, 100));
  EXPECT_THAT(Mix::make({0.1, 0.2, 0.7})->parts(), ElementsAre(100, 200, 700));
}

/// Law: element k's place in its source is the number of that source's elements before it, and
/// shares are kept at every moment.
TEST(Mix, CountsWhatItGives) {
  for (const std::vector<double>& weights : {std::vector<double>{1},
                                             {1, 1},
                                             {0.5, 0.3, 0.2},
                                             {5, 0, 1, 0},
                                             {0, 3},
                                             {1e-6, 1, 0.25},
                                             {3, 1, 4, 1, 5, 9, 2, 6}}) {
    auto mix = Mix::make(weights);
    ASSERT_TRUE(mix.ok());
    std::vector<std::int64_t> seen(weights.size());
    for (std::int64_t k = 0; k < 3000; ++k) {
      for (std::size_t s = 0; s < weights.size(); ++s) {
        ASSERT_EQ(mix->count(s, k), seen[s]);
        ASSERT_NEAR(static_cast<double>(seen[s]), static_cast<double>(k) * mix->share(s),
                    static_cast<double>(weights.size()));
      }
      const Mix::Pick pick = mix->at(k);
      ASSERT_EQ(pick.index, seen[pick.source]++);
    }
  }
}

TEST(Mix, IsExactFarOut) {
  auto mix = Mix::make({0.7, 0.2, 0.1});
  for (std::int64_t k : {std::int64_t{1} << 40, (std::int64_t{1} << 61) + 12345}) {
    std::int64_t sum = 0;
    for (std::size_t s : {0, 1, 2}) {
      sum += mix->count(s, k);
      EXPECT_EQ(mix->count(s, k + 1) - mix->count(s, k), mix->at(k).source == s);
    }
    EXPECT_EQ(sum, k);
    EXPECT_EQ(mix->at(k).index, mix->count(mix->at(k).source, k));
  }
}

TEST(Mix, RefusesWeightsWithoutMeaning) {
  auto message = [](const std::vector<double>& w) { return Mix::make(w).status().message(); };
  EXPECT_THAT(message({0, 0}), HasSubstr("sum to 0"));
  EXPECT_THAT(message({}), HasSubstr("sum to 0"));
  EXPECT_THAT(message({1, -0.5}), HasSubstr("-0.5"));
  EXPECT_THAT(message({1, std::nan("")}), HasSubstr("nan"));
  EXPECT_THAT(message({1, INFINITY}), HasSubstr("inf"));
  EXPECT_THAT(message({1, 1e-10}), HasSubstr("too far apart"));
}

}  // namespace
}  // namespace strata::data
