// Columns whose elements are behind each other in memory: the reference's bits, and which of them
// use squares.
#include "strata/compile/kernel/reduce/reduce_transposed.h"

#include <gtest/gtest.h>

#include "strata/compile/kernel/reduce/reduce_testing.h"
#include "strata/op/reduce/combiner.h"

namespace strata::compile {
namespace {

using op::Combiner;

const testing::TransposedReduction kCases[] = {
    {{70, 100}, {1, 0}, {0}, true},
    {{24, 1000}, {1, 0}, {0}, true},  // several chunks, a point for each
    {{264, 303}, {1, 0}, {0}, true},  // chunks in one point, a last one that is no whole squares
    {{13, 77}, {1, 0}, {0}, true},    // a few columns beside a square
    {{9, 601}, {1, 0}, {0}, true},
    {{5, 12, 40}, {2, 0, 1}, {0}, true},  // kept dimensions of which a square crosses the end
    {{6, 9, 50}, {0, 2, 1}, {1}, true},
    {{30, 4, 3, 64}, {3, 2, 1, 0}, {0, 2}, true},  // other reduced elements between neighbours
    {{20, 8, 2, 72}, {3, 2, 1, 0}, {0, 2}, true},
    {{20, 5, 2, 64}, {3, 2, 1, 0}, {0, 2}, false},  // five of them are no part of a chunk
    {{20, 4, 2, 60}, {3, 2, 1, 0}, {0, 2}, false},  // no whole squares
    {{7, 400}, {1, 0}, {0}, false},
    {{400, 12}, {1, 0}, {0}, false},
};

TEST(ReduceTransposed, HaveTheReferencesBits) {
  for (const testing::TransposedReduction& c : kCases)
    // Sums of integers have no order to keep: they are those of the array itself.
    for (DType dtype : {DType::f32, DType::bf16, DType::i8})
      testing::expect_reduced(c, dtype, "reduce_transposed", c.by_kernel && is_float(dtype));
}

/// What is computed element by element as it is read, with a value of each column; an initial
/// value.
TEST(ReduceTransposed, OfWhatIsComputed) {
  ir::Block block;
  ir::Builder b(block);
  ir::Value *x = block.add_argument(Type(DType::f32, {60, 500})),
            *init = block.add_argument(Type::scalar(DType::f32)),
            *means = block.add_argument(Type(DType::f32, {60}));
  ir::Value* turned = op::transpose(b, x, {1, 0});
  ir::Value* apart = op::sub(b, turned, op::broadcast_in_dim(b, means, turned->shape(), {1}));
  block.results = {op::reduce(b, op::mul(b, apart, apart), init, {0}, Combiner::add),
                   op::reduce(b, op::exp(b, apart), init, {0}, Combiner::mul)};
  testing::expect_compiled_equals_reference(block);
}

}  // namespace
}  // namespace strata::compile
