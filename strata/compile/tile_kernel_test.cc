// Squares of complex numbers, whose parts lie side by side.
#include "strata/compile/tile_kernel.h"

#include "strata/compile/compile_testing.h"

namespace strata::compile {
namespace {

TEST(TileKernel, PartsOfTransposedNumbersStayApart) {
  ir::Block block;
  ir::Value* x = block.add_argument(Type(DType::c64, {33, 70}));
  ir::Builder b(block);
  ir::Value* turned = op::transpose(b, x, {1, 0});
  block.results = {turned, op::sub(b, op::real(b, turned), op::imag(b, turned))};
  testing::expect_compiled_equals_reference(block);
}

}  // namespace
}  // namespace strata::compile
