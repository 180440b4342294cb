// dynamic_pad against the padding it stands for.
#include <gtest/gtest.h>

#include "strata/op/build.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

TEST(dynamic_pad, low_high_and_between_by_operands) {
  Literal amounts[] = {Literal::of<std::int64_t>({2}, {1, 0}),
                       Literal::of<std::int64_t>({2}, {2, -1}),
                       Literal::of<std::int64_t>({2}, {1, 0})};
  Literal y = testing::run(
      {Literal::of<std::int32_t>({2, 3}, {1, 2, 3, 4, 5, 6}), Literal::scalar(std::int32_t{9}),
       amounts[0], amounts[1], amounts[2]},
      [](Builder& b, const Values& v) {
        return b.create(def("stablehlo.dynamic_pad").info, v, {}, {}, {Type(DType::i32, {6, 2})})
            .results();
      })[0];
  Literal want = Literal::of<std::int32_t>({6, 2}, {9, 9, 1, 2, 9, 9, 4, 5, 9, 9, 9, 9});
  EXPECT_TRUE(testing::same(y, want)) << testing::to_text(y);
}

}  // namespace
}  // namespace strata::op
