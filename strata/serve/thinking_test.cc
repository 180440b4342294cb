// Thoughts end where their budget does.
#include "strata/serve/thinking.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "strata/tokenizer/tokenizer.h"

namespace strata::serve {
namespace {

using Tokens = std::vector<std::int32_t>;

TEST(Thinking, TheMarkComesBehindTheBudget) {
  const Thinking t{.begins = {1}, .ends = {2, 3}, .most = 2};
  EXPECT_EQ(t.forced(Tokens{}), std::nullopt);
  EXPECT_EQ(t.forced(Tokens{7, 7, 7, 7}), std::nullopt) << "nothing is thought";
  EXPECT_EQ(t.forced(Tokens{1, 7}), std::nullopt);
  EXPECT_EQ(t.forced(Tokens{1, 7, 7}), 2);
  EXPECT_EQ(t.forced(Tokens{1, 7, 7, 2}), 3) << "the mark's second token";
  EXPECT_EQ(t.forced(Tokens{1, 7, 7, 2, 3}), std::nullopt) << "the answer";
  EXPECT_EQ(t.forced(Tokens{1, 7, 2, 3, 7, 7, 7}), std::nullopt) << "ended by itself";
  EXPECT_EQ(t.forced(Tokens{1, 7, 2, 3, 7, 1, 7, 7}), 2) << "and begun again";
  const Thinking none{.begins = {1}, .ends = {2}, .most = 0};
  EXPECT_EQ(none.forced(Tokens{1}), 2);
}

TEST(Thinking, APromptMayBeginThem) {
  const tokenizer::ByteTokenizer bytes;
  const Marks marks(bytes, "<think>", "</think>");
  ASSERT_FALSE(marks.empty());
  const auto tokens = [&](const std::string& text) { return bytes.encode_with(text, {}); };
  const Thinking open = marks.begin(tokens("question<think>a"), 3);
  EXPECT_TRUE(open.open);
  EXPECT_EQ(open.thought, 1);
  EXPECT_EQ(open.forced(tokens("bc")), '<');
  EXPECT_EQ(open.forced(tokens("bc</thi")), 'n');
  EXPECT_EQ(open.forced(tokens("bc</think>")), std::nullopt);
  EXPECT_EQ(marks.begin(tokens("<think>abcdef"), 3).forced(Tokens{}), '<') << "beyond it already";
  EXPECT_EQ(marks.begin(tokens("<think>abcdef"), 3).forced(tokens("</")), 't');
  EXPECT_FALSE(marks.begin(tokens("<think></think>"), 3).open);
}

TEST(Thinking, WhatWasReadIsNotReadAgain) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const Thinking t{.begins = {1, 1},
                     .ends = {2, 3, 2},
                     .most = static_cast<std::int64_t>(random() % 4),
                     .open = round % 2 == 0,
                     .thought = round % 2 == 0 ? static_cast<std::int64_t>(random() % 6) : 0};
    Thinking::Path path;
    Tokens output;
    for (int step = 0; step < 60; ++step) {
      // Guesses that were wrong are taken back.
      if (random() % 4 == 0) output.resize(output.size() - random() % (output.size() + 1));
      for (std::size_t more = random() % 3; more > 0; --more)
        output.push_back(static_cast<std::int32_t>(random() % 5));
      ASSERT_EQ(t.forced(output, path), t.forced(output)) << round << " " << step;
    }
  }
}

TEST(Thinking, AShapeForcesATokenAndLetsGo) {
  const Thinking t{.begins = {1}, .ends = {2}, .most = 1};
  std::vector<float> bias(4);
  const auto shape = t.shape({});
  EXPECT_FALSE(shape(Tokens{1}, bias));
  EXPECT_TRUE(shape(Tokens{1, 3}, bias));
  EXPECT_EQ(bias[2], 0);
  EXPECT_TRUE(std::isinf(bias[3]));
  EXPECT_TRUE(shape(Tokens{1, 3, 2}, bias));
  EXPECT_EQ(bias, std::vector<float>(4));
  EXPECT_FALSE(shape(Tokens{1, 3, 2, 3}, bias));
}

}  // namespace
}  // namespace strata::serve
