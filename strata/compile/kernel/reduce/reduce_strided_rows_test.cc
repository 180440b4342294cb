// Rows between whose elements those of other rows are: the reference's bits, and which of them go
// by lines.
#include "strata/compile/kernel/reduce/reduce_strided_rows.h"

#include <gtest/gtest.h>

#include "strata/compile/kernel/reduce/reduce_testing.h"
#include "strata/op/reduce/combiner.h"

namespace strata::compile {
namespace {

using op::Combiner;

const testing::TransposedReduction kCases[] = {
    // groups of a few channels: runs that are a part of the lanes, whole periods and the rest of
    // one, several chunks
    {{2, 49, 32, 4}, {}, {1, 3}, true},
    {{3, 50, 16, 2}, {}, {1, 3}, true},
    {{2, 1100, 9, 4}, {}, {1, 3}, true},
    {{5, 3, 7, 8, 16}, {}, {1, 2, 4}, true},
    {{2, 700, 5, 8, 1}, {}, {1, 3}, true},
    {{2, 600, 70, 8}, {}, {1, 3}, true},
    {{6, 5, 4, 3}, {}, {0, 1, 3}, false},
    {{2, 40, 3, 4}, {}, {1, 3}, false},
    // across memory
    {{300, 40}, {1, 0}, {1}, true},
    {{9000, 33}, {1, 0}, {1}, true},
    {{77, 1100}, {1, 0}, {1}, true},
    {{3, 20, 9, 7}, {0, 2, 3, 1}, {3}, true},
    {{3, 20, 9, 7}, {2, 3, 0, 1}, {2, 3}, true},
    {{3, 20, 40, 2}, {3, 0, 2, 1}, {3}, false},
    {{5, 20, 60}, {2, 0, 1}, {2}, false},
    {{300, 8}, {1, 0}, {1}, false},
};

TEST(ReduceStridedRows, HaveTheReferencesBits) {
  for (const testing::TransposedReduction& c : kCases)
    for (DType dtype : {DType::f32, DType::bf16, DType::i8})
      testing::expect_reduced(c, dtype, "reduce_strided_rows", c.by_kernel);
}

/// What is computed element by element as it is read, truth values, an initial value.
TEST(ReduceStridedRows, OfWhatIsComputed) {
  ir::Block block;
  ir::Builder b(block);
  ir::Value *x = block.add_argument(Type(DType::f32, {500, 40})),
            *init = block.add_argument(Type::scalar(DType::f32)),
            *rows = block.add_argument(Type(DType::f32, {40}));
  ir::Value* turned = op::transpose(b, x, {1, 0});
  ir::Value* apart = op::sub(b, turned, op::broadcast_in_dim(b, rows, turned->shape(), {0}));
  block.results = {op::reduce(b, op::mul(b, apart, apart), init, {1}, Combiner::add),
                   op::reduce(b, op::compare(b, turned, op::full_like(b, turned, 2), "GT"),
                              op::scalar(b, DType::i1, 0), {1}, Combiner::or_)};
  testing::expect_compiled_equals_reference(block);
}

/// The second reads what the first gives: they are not side by side.
TEST(ReduceStridedRows, OneAfterTheOther) {
  ir::Block block;
  ir::Builder b(block);
  ir::Value* x = op::transpose(b, block.add_argument(Type(DType::f32, {500, 40})), {1, 0});
  ir::Value* most = op::reduce_max(b, x, {1});
  block.results = {
      most, op::reduce_sum(
                b, op::exp(b, op::sub(b, x, op::broadcast_in_dim(b, most, x->shape(), {0}))), {1})};
  testing::expect_compiled_equals_reference(block);
}

}  // namespace
}  // namespace strata::compile
