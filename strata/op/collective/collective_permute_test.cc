// collective_permute in a grid: who gets whose operand.
#include <gtest/gtest.h>

#include "strata/op/testing/grid.h"

namespace strata::op {
namespace {

using testing::each;
using testing::Rows;
using testing::table;

TEST(collective_permute, hands_on_and_gives_zero_to_whom_nobody_names) {
  auto permute = [](std::vector<std::vector<std::int64_t>> pairs) {
    return [=](Builder& b, Value* x) {
      return b.create("stablehlo.collective_permute", {x}, {{"source_target_pairs", table(pairs)}})
          .results();
    };
  };
  EXPECT_EQ(each(3, 1, 1, permute({{0, 1}, {1, 2}, {2, 0}})), (Rows{{20}, {0}, {10}}));
  EXPECT_EQ(each(3, 1, 1, permute({{1, 0}})), (Rows{{10}, {0}, {0}}));
}

}  // namespace
}  // namespace strata::op
