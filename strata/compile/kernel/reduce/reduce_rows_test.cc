// Rows that are in runs between those of others, of which chunks cut some.
#include "strata/compile/kernel/reduce/reduce_rows.h"

#include "strata/compile/compile_testing.h"

namespace strata::compile {
namespace {

TEST(ReduceRows, RunsThatAChunkCutsAreReadInTwoParts) {
  for (const Shape& shape : {Shape{3000, 5, 7}, Shape{700, 3, 99}}) {
    ir::Block block;
    ir::Value* x = block.add_argument(Type(DType::f32, shape));
    ir::Builder b(block);
    block.results = {op::reduce_sum(b, x, {0, 2}), op::reduce_max(b, x, {0, 2})};
    testing::expect_compiled_equals_reference(block);
  }
}

}  // namespace
}  // namespace strata::compile
