#include "strata/train/evaluate/ngram.h"

#include <gtest/gtest.h>

#include <cmath>

#include "strata/train/evaluate/generate.h"

namespace strata::train {
namespace {

using Tokens = std::vector<std::int32_t>;

TEST(Ngram, CountsByHand) {
  Ngram n(4);
  n.add(Tokens{0, 1, 0, 1, 2});
  EXPECT_NEAR(n.unigram_nats(0), -std::log(3.0 / 9), 1e-12);
  EXPECT_NEAR(n.unigram_nats(3), -std::log(1.0 / 9), 1e-12);
  // After 1 came 0 and 2, once each: n(1) = 2, count(1) = 2.
  EXPECT_NEAR(n.bigram_nats(1, 2), -std::log((1 + 2 * 2.0 / 9) / 4), 1e-12);
  EXPECT_NEAR(n.bigram_nats(1, 3), -std::log((0 + 2 * 1.0 / 9) / 4), 1e-12);
  EXPECT_EQ(n.bigram_nats(3, 1), n.unigram_nats(1));
  EXPECT_NEAR(n.bigram(Tokens{0, 1}), n.unigram_nats(0) + n.bigram_nats(0, 1), 1e-12);
}

/// Number `i` of the stream of `seed`, uniform in [0, 1): SplitMix64, 53 bits.
double uniform_number(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

TEST(Ngram, ProbabilitiesSumToOne) {
  Ngram n(16);
  Tokens text;
  for (std::uint64_t i = 0; i < 500; ++i)
    text.push_back(static_cast<std::int32_t>(uniform_number(1, i) * uniform_number(2, i) * 16));
  n.add(text);
  for (std::int32_t s = 0; s < 16; ++s) {
    double unigrams = 0, bigrams = 0;
    for (std::int32_t t = 0; t < 16; ++t) {
      unigrams += std::exp(-n.unigram_nats(t));
      bigrams += std::exp(-n.bigram_nats(s, t));
    }
    EXPECT_NEAR(unigrams, 1, 1e-12);
    EXPECT_NEAR(bigrams, 1, 1e-12) << s;
  }
}

// Texts of two rules: i -> 3 i + 1 and i -> 5 i + 2 mod 64, one step in four at random.
TEST(Ngram, TellsTextsOfTwoKindsApart) {
  auto text = [](std::int32_t factor, std::int32_t more, std::uint64_t seed, std::size_t size) {
    Tokens out = {0};
    for (std::uint64_t i = 0; out.size() < size; ++i)
      out.push_back(uniform_number(seed, i) < 0.25
                        ? static_cast<std::int32_t>(uniform_number(seed + 100, i) * 64)
                        : (factor * out.back() + more) % 64);
    return out;
  };
  Ngram a(64), b(64);
  a.add(text(3, 1, 1, 4000));
  b.add(text(5, 2, 2, 4000));
  for (std::uint64_t seed = 10; seed < 20; ++seed) {
    const Tokens like_a = text(3, 1, seed, 32), like_b = text(5, 2, seed, 32);
    EXPECT_LT(a.bigram(like_a), b.bigram(like_a));
    EXPECT_LT(b.bigram(like_b), a.bigram(like_b));
  }
}

}  // namespace
}  // namespace strata::train
