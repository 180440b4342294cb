#include "strata/optim/schedule/schedule_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "strata/base/error.h"

namespace strata::optim {
namespace {

using Kind = SchedulePiece::Kind;
using testing::ElementsAre;

constexpr const char* kExample =
    "linear 0 -> 3e-4 over 100, constant 1000, cosine -> 3e-5 over 400";

TEST(ScheduleText, ReadsPieces) {
  EXPECT_THAT(parse_schedule(kExample), ElementsAre(SchedulePiece{Kind::linear, 0, 3e-4, 100},
                                                    SchedulePiece{Kind::constant, 3e-4, 3e-4, 1000},
                                                    SchedulePiece{Kind::cosine, 3e-4, 3e-5, 400}));
  EXPECT_EQ(total_steps(parse_schedule(kExample)), 1500);
}

TEST(ScheduleText, SpellingsOfTheSame) {
  const auto want = parse_schedule(kExample);
  for (const char* text :
       {"[linear 0 → 3e-4 over 100, constant 1000, cosine → 3e-5 over 400]",
        "linear 0->3e-4 for 1e2,constant 3e-4 over 1e3,cosine 0.0003→3e-5 over 400.0",
        " [ linear 0.0\t-> 0.0003\nover 100 , constant 1000,cosine->3e-5 over 400 ] "})
    EXPECT_EQ(parse_schedule(text), want) << text;
}

TEST(ScheduleText, AConstantMayLast) {
  EXPECT_THAT(parse_schedule("linear 1 -> 2 over 3, constant"),
              ElementsAre(SchedulePiece{Kind::linear, 1, 2, 3},
                          SchedulePiece{Kind::constant, 2, 2, std::nullopt}));
}

TEST(ScheduleText, PrintsWhatItReads) {
  EXPECT_EQ(
      to_string(parse_schedule(kExample)),
      "linear 0 -> 0.0003 over 100, constant 0.0003 over 1000, cosine 0.0003 -> 3e-05 over 400");
  for (const char* text : {kExample, "constant 1 over 1", "cosine 1e-300 -> 0.1 over 1e9, constant",
                           "linear -0 -> 0.30000000000000004 over 7"}) {
    const auto pieces = parse_schedule(text);
    EXPECT_EQ(parse_schedule(to_string(pieces)), pieces) << text;
  }
}

/// The message, and the word that its marks underline.
struct Refusal {
  std::string why, marked;
};
Refusal refusal(const std::string& text) {
  try {
    (void)parse_schedule(text, "lr_pieces");
    return {"accepted", ""};
  } catch (const Error& e) {
    const std::string all = e.what();
    const std::size_t first = all.find('\n'), last = all.rfind('\n');
    const std::string marks = all.substr(last + 1);
    EXPECT_EQ(all.substr(0, 11), "lr_pieces: ");
    EXPECT_EQ(all.substr(first + 3, last - first - 3), text);
    // Columns are letters; these texts have one letter a byte.
    const std::size_t from = marks.find('^') - 2;
    return {all.substr(11, first - 11),
            from < text.size() ? text.substr(from, marks.size() - from - 2) : "the end"};
  }
}

TEST(ScheduleText, MistakesPointAtTheirWord) {
  const struct {
    const char *text, *why, *marked;
  } cases[] = {
      {"linear 0 -> 1 over 5, constnat 3",
       "expected constant, linear, cosine, got 'constnat'; did you mean 'constant'?", "constnat"},
      {"", "expected constant, linear, cosine, got the end", "the end"},
      {"linear 0 -> 1 over 5,", "expected constant, linear, cosine, got the end", "the end"},
      {"cosine -> 1 over 5",
       "the first piece says where it starts, as in 'linear 0 -> 3e-4 over 100'", "cosine"},
      {"constant 5", "the first piece says where it starts, as in 'constant 3e-4 over 100'",
       "constant"},
      {"linear 0 > 1 over 5", "expected '->' and the rate to go to, got '>'", ">"},
      {"linear 0 -> high over 5", "expected a rate, as in 3e-4, got 'high'", "high"},
      {"linear 0 -> -1 over 5", "a rate is a number from 0 on, got '-1'", "-1"},
      {"linear 0 -> inf over 5", "a rate is a number from 0 on, got 'inf'", "inf"},
      {"linear 0 -> 1e999 over 5", "expected a rate, as in 3e-4, got '1e999'", "1e999"},
      {"linear 0 -> 1", "expected 'over STEPS', got the end", "the end"},
      {"linear 0 -> 1 ovr 5", "expected 'over STEPS', got 'ovr'", "ovr"},
      {"linear 0 -> 1 over 0", "steps are a whole number from 1 to 1000000000, got '0'", "0"},
      {"linear 0 -> 1 over 2.5", "steps are a whole number from 1 to 1000000000, got '2.5'", "2.5"},
      {"linear 0 -> 1 over 2e9", "steps are a whole number from 1 to 1000000000, got '2e9'", "2e9"},
      {"linear 0 -> 1 over 5 constant 3", "expected ',' before the next piece", "constant"},
      {"linear 0 -> 1 over 5, constant 3e-4",
       "'3e-4' is no number of steps; for a rate write 'constant 3e-4 over STEPS'", "3e-4"},
      {"linear 0 -> 1 over 5, constant, constant 3",
       "a piece without a number of steps lasts, so nothing can follow it", "constant"},
      {"[linear 0 -> 1 over 5", "expected ',' or ']'", "the end"},
      {"linear 0 -> 1 over 5]", "expected ',' before the next piece", "]"},
      {"linear", "expected a rate or '->', got the end", "the end"},
  };
  for (const auto& c : cases) {
    const Refusal r = refusal(c.text);
    EXPECT_EQ(r.why, c.why) << c.text;
    EXPECT_EQ(r.marked, c.marked) << c.text;
  }
}

TEST(ScheduleText, ColumnsAreLetters) {
  try {
    (void)parse_schedule("linear 0 → 1 over five");
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "schedule: expected a number of steps, got 'five'\n  linear 0 → 1 over five\n     "
                 "               ^^^^");
  }
}

TEST(ScheduleText, TakesAnyBytes) {
  // Damaged forms of a good text: each is read or refused, and what is read prints to itself.
  const std::string whole = kExample;
  std::uint64_t random = 1;
  for (int round = 0; round < 20000; ++round) {
    std::string text = whole.substr(0, round % (whole.size() + 1));
    for (int edits = round % 4; edits > 0 && !text.empty(); --edits) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      text[(random >> 33) % text.size()] = static_cast<char>(random >> 25);
    }
    try {
      const auto pieces = parse_schedule(text);
      EXPECT_EQ(parse_schedule(to_string(pieces)), pieces) << text;
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace strata::optim
