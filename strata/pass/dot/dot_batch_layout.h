// A product's operand of which a batch is the last dimension is transposed first, where the other
// operand's last dimension is none.
//
//   dot(x[d, b, a], y[a, d, c]), a the batch  ->  dot(transpose(x)[a, b, d], y)
//
// Kernels walk a batch from outside: each element of such an operand is on a cache line of its
// own for them, and where the batch is a power of two all of these are in few places of a cache. A
// transposition reads the operand once, line by line. (Batches that are last in both are lanes:
// compile/kernel/dot/batch_vectorized_dot.h. Of two batches that are last in one operand each, the
// smaller operand is transposed so that it ends with that of the other.) Terms and their order
// stay, so no bit changes.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// For the block and the regions in it. Returns whether anything changed; products that were said
/// anew are dead then.
bool move_dot_batches_outermost(ir::Block& block);

/// Whether operand `i` of a product is a transposition that moves its batch from the end of memory:
/// one that has to be made, and not read through.
bool is_batch_moved_outermost(const ir::Op& product, int i);

}  // namespace strata::pass
