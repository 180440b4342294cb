// What each direction says of less, equal, greater and NaN; both the reference and the machine code
// read the word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "strata/op/build.h"
#include "strata/op/evaluate.h"

namespace strata::op {
namespace {

using ::testing::ElementsAre;

/// 1, 2, 3 and NaN compared with 2.
std::vector<bool> with_two(const char* direction) {
  Literal x = Literal::of<float>({4}, {1, 2, 3, std::numeric_limits<float>::quiet_NaN()});
  Block block;
  Builder b(block);
  Value* v = block.add_argument(x.type());
  block.results = {compare(b, v, full_like(b, v, 2), direction)};
  Literal out = evaluate(block, Literals{x})[0];
  return {out.span<bool>().begin(), out.span<bool>().end()};
}

TEST(Compare, Directions) {
  EXPECT_THAT(with_two("EQ"), ElementsAre(false, true, false, false));
  EXPECT_THAT(with_two("NE"), ElementsAre(true, false, true, true));
  EXPECT_THAT(with_two("LT"), ElementsAre(true, false, false, false));
  EXPECT_THAT(with_two("LE"), ElementsAre(true, true, false, false));
  EXPECT_THAT(with_two("GT"), ElementsAre(false, false, true, false));
  EXPECT_THAT(with_two("GE"), ElementsAre(false, true, true, false));
}

}  // namespace
}  // namespace strata::op
