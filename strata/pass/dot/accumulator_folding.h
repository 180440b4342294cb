// Sums of gradients of several micro-batches go on from one to the next, bit for bit.
//
//   add(sums, dot_general(x, dy))              ->  strata.dot_add(x, dy, sums)
//   add(sums, scatter_add(0, i, v))            ->  scatter_add(sums, i, v)
//   add(sums, reduce(x over rows))             ->  sums + chunk + chunk + ..., in their order
//   add(sums, ys of a scan whose body gives y) ->  ys of the scan that gives add(slice of sums, y)
//
// An element of a product is one chain of multiply-adds over k: begun at the sum over the rows
// before, it is the chain over all rows. Only additions that are marked are said so, since others
// promise to round the product first. Where it cannot be done they stay additions: a product that
// is rounded to bf16, or that sums over 32768 rows or more; a reduction of rows that are no whole
// chunks (op/reduce/reduce_order.h), or of 65536 numbers or more.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// Lets an addition say that its first operand is a sum that the second may go on from.
void mark_accumulator_add(ir::Op& add);

/// For the block and the regions in it; behind chunk_dots, which knows products as they are.
/// Returns whether anything changed.
bool fold_accumulators(ir::Block& block);

}  // namespace strata::pass
