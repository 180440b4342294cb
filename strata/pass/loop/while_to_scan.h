// While loops that count are scans.
//
//   while (i < n) { ... x[i] ...; stack[i] = y; i = i + 1 }, all of `stack` written        (how JAX
//   says a scan or a fori_loop)
//
// becomes strata.scan of known length over slices of x that stacks y: places are known without
// arithmetic and clamps, nothing has to be in the stack before, and no step of the loop counts.
// The counter stays a carry where something else asks for it. No bit changes.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// For the block and the regions of loops, branches and calls in it (those of reductions, sorts ...
/// stay element by element). Returns whether anything changed; simplify then joins the reshapes
/// that are left at the edges of slices.
bool convert_while_to_scan(ir::Block& block);

}  // namespace strata::pass
