// Moves behind a product, which its kernel does as it stores.
#include "strata/compile/kernel/gemm/gemm_output.h"

#include "strata/compile/compile_testing.h"

namespace strata::compile {
namespace {

// Permutations that are not their own inverse, one of which follows another.
TEST(ProductResult, RowsLandWhereMovesPutThem) {
  for (const std::vector<ir::Ints>& orders :
       {std::vector<ir::Ints>{{1, 2, 0, 3}}, {{2, 0, 1, 3}}, {{1, 2, 0, 3}, {1, 0, 2, 3}}}) {
    ir::Block block;
    ir::Value *x = block.add_argument(Type(DType::f32, {4 * 6 * 5, 20})),
              *y = block.add_argument(Type(DType::f32, {20, 40}));
    ir::Builder b(block);
    ir::Value* out =
        op::reshape(b, op::dot_general(b, x, y, {{}, {}, {1}, {0}}), Shape{4, 6, 5, 40});
    for (const ir::Ints& order : orders) out = op::transpose(b, out, order);
    block.results = {out};
    EXPECT_EQ(make_plan(*prepare(block), {}, testing::v3()).kernels.size(), 1u);
    testing::expect_compiled_equals_reference(block);
  }
}

}  // namespace
}  // namespace strata::compile
