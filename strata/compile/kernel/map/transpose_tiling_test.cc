// Squares of complex numbers, whose parts are side by side.
#include "strata/compile/kernel/map/transpose_tiling.h"

#include "strata/compile/compile_testing.h"

namespace strata::compile {
namespace {

TEST(TileKernel, PartsOfTransposedNumbersStayApart) {
  for (const Shape& shape : {Shape{37, 19}, Shape{260, 272}}) {
    ir::Block block;
    ir::Value* x = block.add_argument(Type(DType::c64, shape));
    ir::Builder b(block);
    block.results = {op::transpose(b, x, {1, 0})};
    const auto kernels = make_plan(*prepare(block), {}, testing::v3()).kernels;
    EXPECT_EQ(kernels.front()->name, "transpose_tiling");
    testing::expect_compiled_equals_reference(block);
  }
}

}  // namespace
}  // namespace strata::compile
