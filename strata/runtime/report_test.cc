#include "strata/runtime/report.h"

#include <gtest/gtest.h>

namespace strata::runtime {
namespace {

TEST(Report, TellsTheSlowestFirstAndNothingOfWhatDidNotRun) {
  const std::vector<Launch> launches = {{"add", "add #0 grid 4()"},
                                        {"never", "never #1 grid 1()"},
                                        {"dot", "dot #2 grid 8 parallel()"}};
  EXPECT_EQ(report("step", launches, {{10, 1'000'000}, {}, {2, 3'000'000}}),
            "step: 0.004000 s in launches\n"
            "   3.000 ms  75.0 %  2 runs  dot #2 grid 8 parallel()\n"
            "   1.000 ms  25.0 %  10 runs  add #0 grid 4()\n");
}

TEST(Report, OfAProgramThatNeverRan) {
  EXPECT_EQ(report("step", {{"add", "add #0"}}, {}), "step: 0.000000 s in launches\n");
}

}  // namespace
}  // namespace strata::runtime
