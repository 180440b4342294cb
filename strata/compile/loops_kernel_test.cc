// Maps as machine code: the reference's bits, with as many lanes as a map is given.
#include "strata/compile/compile_testing.h"
#include "strata/op/build.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;
using ir::Values;
using testing::expect_compiled_equals_reference;

/// Rounds of a generator of random bits: x += y, y = rotated y ^ x.
Value* rounds(Builder& b, Value* x, Value* y, int count) {
  for (int i = 0; i < count; ++i) {
    x = op::add(b, x, y);
    Value *left = op::broadcast_in_dim(b, op::scalar(b, DType::ui32, 5 + i % 20), y->shape(), {}),
          *right = op::broadcast_in_dim(b, op::scalar(b, DType::ui32, 27 - i % 20), y->shape(), {});
    y = op::xor_(b, op::or_(b, op::shift_left(b, y, left), op::shift_right_logical(b, y, right)), x);
  }
  return op::add(b, x, y);
}

/// Long chains of integers have more lanes; sizes that fill strips, points, and neither.
TEST(CompiledMaps, LongChainsOfIntegers) {
  for (const Shape& shape : {Shape{1 << 16}, Shape{65551}, Shape{257, 301}})
    for (int count : {4, 20}) {
      Block block;
      Value *x = block.add_argument(Type(DType::ui32, shape)), *y = block.add_argument(Type(DType::ui32, shape));
      Builder b(block);
      Value* bits = rounds(b, x, y, count);
      block.results = {bits, op::convert(b, bits, DType::f32)};
      expect_compiled_equals_reference(block);
    }
}

}  // namespace
}  // namespace strata::compile
