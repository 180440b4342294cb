// reduce_scatter in a grid: everyone gets the part of their place in the group.
#include <gtest/gtest.h>

#include "strata/op/testing/grid.h"

namespace strata::op {
namespace {

using testing::each;
using testing::groups;
using testing::Rows;
using testing::table;
using testing::with;

TEST(reduce_scatter, everyone_gets_the_part_of_their_place) {
  EXPECT_EQ(each(2, 1, 2,
                 [](Builder& b, Value* x) {
                   Attrs attrs = with(with(groups(table({{1, 0}})), "combiner", std::string("max")),
                                      "scatter_dimension", std::int64_t{1});
                   return b
                       .create(def("stablehlo.reduce_scatter").info, {x}, attrs, {},
                               {Type(DType::i64, {1, 1})})
                       .results();
                 }),
            (Rows{{11}, {10}}));
}

}  // namespace
}  // namespace strata::op
