// How values are read by those that read them.
#include "strata/compile/fuse/fusion_access.h"

#include "strata/compile/compile_testing.h"
#include "strata/compile/fuse/fuse.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;

// An array of as many elements as there are rows, spread over rows or columns.
TEST(FusionAccess, ReadRowByRowIsWhatTheRowsNumberSays) {
  for (std::int64_t d : {0, 1}) {
    Block block;
    Value *x = block.add_argument(Type(DType::f32, {40, 40})),
          *v = block.add_argument(Type(DType::f32, {40}));
    Builder b(block);
    block.results = {op::sub(b, x, op::broadcast_in_dim(b, v, x->shape(), {d}))};
    const std::vector<Access> found = accesses(*block.results[0]->op(), fuse(block));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].kind, Access::Kind::same);
    EXPECT_EQ(found[1].value, v);
    EXPECT_EQ(found[1].kind, d == 0 ? Access::Kind::leading : Access::Kind::other);
  }
}

// What rows give is taken off columns: no row has what it needs.
TEST(FusionAccess, RowsResultsSpreadOverColumns) {
  Block block;
  Value* x = block.add_argument(Type(DType::f32, {40, 40}));
  Builder b(block);
  Value* most = op::reduce_max(b, x, {1});
  block.results = {op::sub(b, x, op::broadcast_in_dim(b, most, x->shape(), {1}))};
  testing::expect_compiled_equals_reference(block);
}

}  // namespace
}  // namespace strata::compile
