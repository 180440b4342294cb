// Sums with an array that is zero but for a part.
//
//   add(x, scatter_add(0, i, v))          ->  scatter_add(x, i, v)
//   add(x, dynamic_update_slice(0, v, i))  ->  dynamic_update_slice(x, x[i] + v, i)
//   add(x, pad(v, 0))                      ->  the same at a place that is known
//
// Derivatives of loops say so that one element of a history was read: it costs the array in each
// turn, and so the part. Only where x is in memory that a loop carries, no place is written twice
// and no element of x is -0, which a zero added would turn (negative_zero.h): no bit changes.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// For the bodies of loops in the block. Returns whether anything changed.
bool fold_adds_into_updates(ir::Block& block);

}  // namespace strata::pass
