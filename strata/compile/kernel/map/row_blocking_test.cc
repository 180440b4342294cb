// Maps of rows of a few elements, several rows together: the reference's bits.
#include "strata/compile/kernel/map/row_blocking.h"

#include <gtest/gtest.h>

#include "strata/compile/compile_testing.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;

bool has_row_blocks(const Block& block) {
  for (const auto& kernel : make_plan(*prepare(block), {}, testing::v3()).kernels)
    if (kernel->name == "row_blocking") return true;
  return false;
}

/// Whole points, whole blocks behind them, and rows that are no block; bytes to floats, halves,
/// doubles.
TEST(RowBlocks, AreTheReferences) {
  for (DType dtype : {DType::f32, DType::ui8, DType::bf16, DType::f64})
    for (std::int64_t length : {2, 3, 4, 5, 6, 7, 9, 12, 13})
      for (std::int64_t rows : {70, 6003}) {
        SCOPED_TRACE(fmt::format("{} x {} of {}", rows, length, name(dtype)));
        Block block;
        Builder b(block);
        Value *x = block.add_argument(Type(dtype, {rows, length})),
              *scale = block.add_argument(Type(DType::f32, {length})),
              *other = block.add_argument(Type(DType::f32, {length}));
        Value* wide = op::convert(b, x, DType::f32);
        auto along = [&](Value* v) { return op::broadcast_in_dim(b, v, x->shape(), {1}); };
        Value* y = op::div(b, op::sub(b, wide, along(other)), along(scale));
        block.results = {is_float(dtype) ? op::convert(b, y, dtype) : y};
        EXPECT_EQ(has_row_blocks(block), length > 2 && length < 13 && length != 4) << length;
        testing::expect_compiled_equals_reference(block);
      }
}

}  // namespace
}  // namespace strata::compile
