// Which groups are alike.
#include "strata/compile/fuse/group_key.h"

#include "strata/compile/compile_testing.h"
#include "strata/compile/fuse/fuse.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;

/// x less each row's greatest element, of two arrays; what of it is a result says `also`.
void rows_less_their_greatest(Block& block, bool also) {
  Builder b(block);
  Value* x[] = {block.add_argument(Type(DType::f32, {50, 70})),
                block.add_argument(Type(DType::f32, {50, 70}))};
  Value* most[] = {op::reduce_max(b, x[0], {1}), op::reduce_max(b, x[1], {1})};
  for (int i : {0, 1})
    block.results.push_back(op::sub(b, x[i], op::broadcast_in_dim(b, most[i], x[i]->shape(), {0})));
  if (also) block.results.push_back(most[1]);
}

TEST(GroupKey, WhatIsStoredIsPartOfIt) {
  for (bool also : {false, true}) {
    Block block;
    rows_less_their_greatest(block, also);
    const Fusion fusion = fuse(block);
    ASSERT_EQ(fusion.groups.size(), 2u) << explain(fusion);
    auto first = group_key(fusion.groups[0], fusion), second = group_key(fusion.groups[1], fusion);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->bytes == second->bytes, !also);
    testing::expect_compiled_equals_reference(block);
  }
}

}  // namespace
}  // namespace strata::compile
