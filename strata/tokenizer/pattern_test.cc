#include "strata/tokenizer/pattern.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "strata/tokenizer/known_patterns.h"
#include "strata/tokenizer/unicode.h"

namespace strata::tokenizer {
namespace {

class KnownPattern : public testing::TestWithParam<const char*> {};

/// Characters that the patterns tell apart.
std::string random_text(std::mt19937& random) {
  static const char* kPieces[] = {
      "a",      "b",      "Z",      "Q",  "1",      "22",         "\u00b2", "\u0661",  " ",
      "  ",     "\n",     "\r\n",   "\t", "\u00a0", "'s",         "'LL",    "'\u017f", "'t",
      "'re",    "'",      "/",      ".",  "!!",     "\u00e9",     "\u0301", "\u01c5",  "\u02b0",
      "\u4e2d", "\u3042", "\u30fc", "_",  "\u20ac", "\U0001f642", "\u0bcd", "$"};
  std::string out;
  for (auto n = random() % 14; n > 0; --n) out += kPieces[random() % std::size(kPieces)];
  return out;
}

TEST_P(KnownPattern, EqualsTheExpression) {
  ASSERT_NE(known_matcher(GetParam()), nullptr);
  const Pattern fast = *Pattern::regex(GetParam()), slow = *Pattern::slow_regex(GetParam());
  std::mt19937 random(11);
  for (int i = 0; i < 1500; ++i) {
    const std::string text = random_text(random);
    const auto a = fast.matches(text), b = slow.matches(text);
    ASSERT_EQ(a.size(), b.size()) << text;
    for (std::size_t k = 0; k < a.size(); ++k) {
      ASSERT_EQ(a[k].begin, b[k].begin) << text;
      ASSERT_EQ(a[k].end, b[k].end) << text;
      ASSERT_EQ(a[k].matched, b[k].matched) << text;
    }
  }
}

TEST_P(KnownPattern, TakesLinearTime) {
  const Pattern p = *Pattern::regex(GetParam());
  for (const char* piece : {"a", "A", " ", "\n", "\u0301", "1", ".", " \n", "'", "\u02b0"}) {
    std::string text;
    while (text.size() < (std::size_t{1} << 18)) text += piece;
    const auto start = std::chrono::steady_clock::now();
    const auto matches = p.matches(text);
    EXPECT_EQ(matches.back().end, text.size());
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << piece;
  }
}

INSTANTIATE_TEST_SUITE_P(All, KnownPattern,
                         testing::Values(expression::kGpt2, expression::kDigit, expression::kLlama3,
                                         expression::kQwen2, expression::kQwen35,
                                         expression::kGpt4o, expression::kTekken,
                                         expression::kThreeDigits, expression::kDeepseekHan,
                                         expression::kDeepseekWords),
                         [](const auto& info) { return "Number" + std::to_string(info.index); });

TEST(Unicode, ClassesAndForms) {
  EXPECT_TRUE(is_letter(U'é') && is_letter(0x4e2d) && !is_letter(U'1'));
  EXPECT_TRUE(is_space(0x85) && is_space(0x3000) && !is_space(0x200b));
  EXPECT_TRUE(is_number(0xbd) && is_mark(0x301) && is_symbol(0x20ac));
  std::string lower;
  for (char32_t c : {U'A', char32_t{0x130}, char32_t{0x3a3}, U'1'}) append_lower(lower, c);
  EXPECT_EQ(lower, "ai\u0307\u03c31");
  EXPECT_EQ(normalize("e\u0301", Form::nfc), "\u00e9");
  EXPECT_EQ(normalize("\uFB01", Form::nfkc), "fi");
  EXPECT_EQ(grapheme_ends("ae\u0301\r\nx"), (std::vector<std::size_t>{1, 4, 6, 7}));
  EXPECT_EQ(well_formed("a\xc3z"), "a\uFFFDz");
}

}  // namespace
}  // namespace strata::tokenizer
