// The table of launches: what bounds them, shares, what is accounted for.
#include "strata/compile/plan/roofline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::compile {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

/// A machine on which one thread does a billion of each a second, two threads two.
MachinePeaks machine() {
  constexpr Rate two{1e9, 2e9};
  return {.threads = 2,
          .slots = two,
          .pairs = two,
          .tiles = {},
          .traffic = {{1e6, {4e9, 8e9}, {4e9, 8e9}}, {1e9, two, two}},
          .call = {1e8, 1e6}};
}

TEST(Roofline, TheLongestOfArithmeticMemoryAndTheCall) {
  Prediction p = predict({.slots = 4e6, .read = 1e6, .written = 1e6, .parallel = true}, machine());
  EXPECT_DOUBLE_EQ(p.arithmetic, 2e-3);
  EXPECT_DOUBLE_EQ(p.memory, 1e-3);
  EXPECT_DOUBLE_EQ(p.call, 1e-6);
  EXPECT_DOUBLE_EQ(p.seconds(), 2e-3);
}

TEST(Roofline, SmallArraysAreReadFromTheCache) {
  EXPECT_DOUBLE_EQ(predict({.read = 8e5, .parallel = true}, machine()).memory, 1e-4);
  EXPECT_DOUBLE_EQ(predict({.read = 2e6, .parallel = true}, machine()).memory, 1e-3);
  EXPECT_DOUBLE_EQ(predict({.read = 2e6}, machine()).memory, 2e-3);  // one thread
}

TEST(Roofline, NamesWhatBounds) {
  auto bound = [](LaunchCost work, double measured) {
    return bound_of(work, predict(work, machine()), measured);
  };
  EXPECT_EQ(bound({.slots = 4e6, .read = 1e6, .parallel = true}, 3e-3), Bound::fma);
  EXPECT_EQ(bound({.slots = 1e3, .read = 2e6, .parallel = true}, 3e-3), Bound::memory);
  EXPECT_EQ(bound({.slots = 10, .parallel = true}, 1e-6), Bound::latency);  // the call takes longer
  EXPECT_EQ(bound({.slots = 1e6}, 2e-3), Bound::fma);
  EXPECT_EQ(bound({.slots = 1e6}, 5e-3), Bound::latency);  // a chain on the caller
}

runtime::LaunchTimes times(std::vector<runtime::LaunchTimes::Total> totals) {
  return {.totals = std::move(totals)};
}

TEST(Roofline, MediansOfRunsAndSharesOfThreads) {
  const std::vector<LaunchCost> works = {{.slots = 1e6, .parallel = true}, {.slots = 1e5}};
  Measured m;
  m.add(10e-3, times({{2, 8'000'000}, {1, 1'000'000}}), 12e-3);
  m.add(99e-3, times({{2, 98'000'000}, {1, 1'000'000}}), 196e-3);
  m.add(10e-3, times({{2, 8'000'000}, {1, 1'000'000}}), 12e-3);
  EXPECT_DOUBLE_EQ(m.seconds(), 10e-3);
  EXPECT_DOUBLE_EQ(m.launch_seconds(0), 8e-3);
  EXPECT_EQ(m.turns(0), 2);
  EXPECT_EQ(m.turns(7), 0);
  EXPECT_NEAR(m.serial_share(works), 0.2, 1e-12);
  EXPECT_NEAR(m.waiting_share(works, 2), 0.2, 1e-12);  // of twice 8 ms, 12 were work
}

TEST(Roofline, TheTableIsSortedAndEndsWithWhatIsAccountedFor) {
  const std::vector<LaunchCost> works = {{.flops = 2e5, .slots = 1e5},
                                         {.flops = 4e6, .slots = 2e6, .parallel = true},
                                         {.slots = 1},
                                         {}};
  Measured m;
  m.add(10e-3, times({{1, 1'000'000}, {2, 8'000'000}, {1, 1'000}}), 16e-3);
  const std::vector<runtime::Launch> launches = {{"add", "add #0 grid 1(arg0)"},
                                                 {"product", "product #1 grid 8 parallel(arg0)"},
                                                 {"neg", "neg #2 grid 1(arg0)"},
                                                 {"never", "never #3"}};
  std::string table = roofline(launches, works, m, machine());
  EXPECT_LT(table.find("product #1 grid 8 parallel\n"), table.find("add #0 grid 1\n"));
  EXPECT_THAT(table, AllOf(HasSubstr("80.00%"), HasSubstr("of 1 launches below"),
                           HasSubstr("serial 20.00 %, waiting for threads 0.00 %")));
  EXPECT_THAT(table,
              EndsWith("90.0 % of the measured time is accounted for (9.001 ms of 10.000 ms)\n"));
  EXPECT_EQ(table.find("never"), std::string::npos);
}

TEST(Roofline, PeaksAreOfThisMachine) {
  MachinePeaks p = measure_peaks();
  for (Rate r : {p.slots, p.pairs, p.call}) EXPECT_GT(r.one, 0);
  ASSERT_GE(p.traffic.size(), 2u);
  for (std::size_t i = 0; i < p.traffic.size(); ++i) {
    EXPECT_GT(p.traffic[i].read.all, 0);
    EXPECT_GT(p.traffic[i].written.all, 0);
    EXPECT_GT(p.traffic[i].bytes, i > 0 ? p.traffic[i - 1].bytes : 0);
  }
}

}  // namespace
}  // namespace strata::compile
