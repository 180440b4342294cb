// Squares of transposed arrays with short last dimensions: what else is read beside what is
// across.
#include "strata/compile/kernel/map/flat_transpose_tiling.h"

#include "strata/compile/compile_testing.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;

bool has_flat_tiles(const Block& block) {
  const Plan plan = make_plan(*prepare(block), {}, testing::v3());
  return std::any_of(plan.kernels.begin(), plan.kernels.end(),
                     [](const auto& kernel) { return kernel->name == "flat_transpose_tiling"; });
}

/// The first turned round, and the second as it is.
void transposed_and(Block& block, const Shape& shape, bool same) {
  Value *x = block.add_argument(Type(DType::f32, shape)),
        *y = same ? x : block.add_argument(Type(DType::f32, {shape[2], shape[1], shape[0]}));
  Builder b(block);
  block.results = {op::sub(b, op::transpose(b, x, {2, 1, 0}), op::mul(b, y, y))};
}

TEST(FlatTiles, AnArrayReadBothWaysHasNone) {
  Block both, two;
  transposed_and(both, {30, 30, 30}, true);
  transposed_and(two, {30, 30, 30}, false);
  EXPECT_FALSE(has_flat_tiles(both));
  EXPECT_TRUE(has_flat_tiles(two));
  testing::expect_compiled_equals_reference(both);
}

/// Rows that squares leave, beside an array whose memory the result takes.
TEST(FlatTiles, LastRowsBesideMemoryThatIsWritten) {
  for (const Shape& shape : {Shape{30, 30, 30}, Shape{30, 30, 37}, Shape{21, 40, 50}}) {
    Block block;
    transposed_and(block, shape, false);
    EXPECT_TRUE(has_flat_tiles(block)) << shape.to_string();
    const std::vector<Literal> arguments = testing::arguments_of(block);
    testing::expect_same_bits(testing::run_donated(block, arguments, {false, true}),
                              op::evaluate(block, arguments), "donated");
    testing::expect_compiled_equals_reference(block);
  }
}

}  // namespace
}  // namespace strata::compile
