#include "strata/optim/schedule/schedule.h"

#include <gtest/gtest.h>

#include "strata/api/transform/jit.h"
#include "strata/api/transform/vmap.h"
#include "strata/base/error.h"
#include "strata/compile/cpu/cpu_client.h"

namespace strata::optim {
namespace {

using Kind = SchedulePiece::Kind;

Schedule linear_schedule(double from, double to, std::int64_t steps) {
  return pieces_schedule({{Kind::linear, from, to, steps}});
}

class ScheduleTest : public testing::Test {
 protected:
  ScheduleTest() { compile::register_cpu(); }
  static float at(const Schedule& s, int step) { return s(Array(step)).item<float>(); }
  /// The rates of steps 0 .. n-1, from one program.
  static std::vector<float> first(const Schedule& s, int n) {
    return jit([s](const Array& steps) {
             return vmap([&](const Array& step) { return s(step); })(steps);
           })(arange(n))
        .to_vector<float>();
  }
};

TEST_F(ScheduleTest, EndsAreMetExactly) {
  for (const auto& [from, to] :
       {std::pair(0.1, 0.7), std::pair(3e-4, 0.0), std::pair(0.0, 1e-3), std::pair(0.3, 0.3)}) {
    for (const Schedule& s : {linear_schedule(from, to, 13), cosine_schedule(from, to, 13)}) {
      EXPECT_EQ(at(s, 0), static_cast<float>(from));
      EXPECT_EQ(at(s, 13), static_cast<float>(to));
      EXPECT_EQ(at(s, 1000), static_cast<float>(to));
    }
  }
}

TEST_F(ScheduleTest, NoStepsMeansTheEnd) {
  EXPECT_EQ(at(linear_schedule(0.0, 0.5, 0), 0), 0.5f);
  EXPECT_EQ(at(cosine_schedule(1.0, 0.5, 0), 3), 0.5f);
}

TEST_F(ScheduleTest, LinearHasEqualSteps) {
  const std::vector<float> rates = first(linear_schedule(0.0, 1.0, 16), 17);
  for (std::size_t i = 0; i < rates.size(); ++i) EXPECT_EQ(rates[i], static_cast<float>(i) / 16.0f);
}

TEST_F(ScheduleTest, CosineFallsAndIsHalfwayInTheMiddle) {
  const std::vector<float> rates = first(cosine_schedule(1.0, 0.2, 10), 11);
  for (std::size_t i = 1; i < rates.size(); ++i) EXPECT_LT(rates[i], rates[i - 1]);
  EXPECT_NEAR(rates[5], 0.6f, 1e-6);
  EXPECT_LT(rates[0] - rates[1], rates[4] - rates[5]) << "flat at its ends";
}

TEST_F(ScheduleTest, PiecesCountFromWhereTheyBegin) {
  const Schedule s =
      join_schedules({linear_schedule(0.0, 1.0, 4), linear_schedule(5.0, 6.0, 2)}, {3});
  EXPECT_EQ(first(s, 6), (std::vector<float>{0, 0.25, 0.5, 5, 5.5, 6}));
}

TEST_F(ScheduleTest, WarmupStableDecayIsAJoinOfPieces) {
  for (const DecayStyle style : {DecayStyle::linear, DecayStyle::cosine}) {
    const Schedule decay =
        style == DecayStyle::linear ? linear_schedule(0.4, 0.1, 6) : cosine_schedule(0.4, 0.1, 6);
    const Schedule joined =
        join_schedules({linear_schedule(0.0, 0.4, 5), constant_schedule(0.4), decay}, {5, 12});
    EXPECT_EQ(first(wsd_schedule(0.4, 5, 7, 6, 0.1, style), 25), first(joined, 25));
  }
}

TEST_F(ScheduleTest, WarmupOfNoStepsBeginsAtThePeak) {
  const Schedule cosine =
      pieces_schedule({{Kind::linear, 0.0, 0.3, 0}, {Kind::cosine, 0.3, 0.0, 10}});
  EXPECT_EQ(at(cosine, 0), 0.3f);
  EXPECT_EQ(at(wsd_schedule(0.3, 0, 4, 4), 0), 0.3f);
}

TEST_F(ScheduleTest, BoundariesFitThePieces) {
  EXPECT_THROW(join_schedules({constant_schedule(1)}, {3}), Error);
  EXPECT_THROW(
      join_schedules({constant_schedule(1), constant_schedule(2), constant_schedule(3)}, {5, 3}),
      Error);
  EXPECT_THROW(pieces_schedule({}), Error);
}

TEST_F(ScheduleTest, OfATextEqualsTheSameByHand) {
  const Schedule text = pieces_schedule(parse_schedule(
      "linear 0 -> 3e-4 over 4, constant 5, cosine -> 3e-5 over 6, linear -> 0 over 2"));
  const Schedule hand =
      join_schedules({linear_schedule(0, 3e-4, 4), constant_schedule(3e-4),
                      cosine_schedule(3e-4, 3e-5, 6), linear_schedule(3e-5, 0, 2)},
                     {4, 9, 15});
  EXPECT_EQ(first(text, 20), first(hand, 20));
  EXPECT_EQ(first(text, 11)[9], 3e-4f) << "the cosine starts where the constant ended";
  EXPECT_EQ(first(pieces_schedule(parse_schedule("linear 0 -> 1 over 2, constant")), 5),
            (std::vector<float>{0, 0.5, 1, 1, 1}));
}

}  // namespace
}  // namespace strata::optim
