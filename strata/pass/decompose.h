// Operations become those that they stand for, where the CPU compiler has no kernel for them.
//
//   chlo.erf(x)  ->  a rational function of x, in multiplications and additions
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// Whether the compiler makes a kernel of the operation as it stands: it has a lowering, and its
/// regions are of the kind that the lowering takes.
bool has_kernel(const ir::Op& op);

/// Decomposes operations that have a decomposition and no lowering at all, in nested regions too,
/// until none is left. Quantised operations on stored integers go first: their scales are taken
/// apart while their types still tell them. Returns whether anything changed.
bool decompose_unlowered(ir::Block& block);

/// Decomposes what remains without a kernel once all types are those of kernels. Returns whether
/// anything changed.
bool decompose_without_kernel(ir::Block& block);

}  // namespace strata::pass
