// Optimisation barriers of several values become one barrier for each value.
//
//   (y, g) = optimization_barrier(x, f)   ->   y = optimization_barrier(x); g =
//   optimization_barrier(f)
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// For the block and the regions in it. Barriers have done their work by then (equal computations
/// on both sides were kept apart), and kernels make one value each. Returns whether anything
/// changed.
bool split_barriers(ir::Block& block);

}  // namespace strata::pass
