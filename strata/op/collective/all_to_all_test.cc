// all_to_all in a grid: who gets which part, and where it is joined.
#include <gtest/gtest.h>

#include "strata/op/testing/grid.h"

namespace strata::op {
namespace {

using testing::each;
using testing::groups;
using testing::Rows;
using testing::table;

TEST(all_to_all, everyone_gets_their_part_of_everyone) {
  auto exchange = [](std::int64_t split, std::int64_t concat, std::vector<std::int64_t> order) {
    return [=](Builder& b, Value* x) {
      Attrs attrs = groups(table({order}), 1);
      attrs.set("split_dimension", split)
          .set("concat_dimension", concat)
          .set("split_count", std::int64_t{2});
      return b.create("stablehlo.all_to_all", {x}, attrs).results();
    };
  };
  EXPECT_EQ(each(1, 2, 4, exchange(1, 0, {0, 1})), (Rows{{0, 1, 10, 11}, {2, 3, 12, 13}}));
  EXPECT_EQ(each(1, 2, 4, exchange(1, 1, {1, 0})), (Rows{{12, 13, 2, 3}, {10, 11, 0, 1}}));
}

}  // namespace
}  // namespace strata::op
