// Loops do only what changes from iteration to iteration: the rest is done before them.
//
// A carry of a `while` that its body gives back as it came is no carry: the loop reads the initial
// value from outside. Operations in a while or scan that depend on nothing of it are done once,
// before it, if that saves arithmetic (index moves and cheap steps stay where they fuse with their
// readers, and move where those are products, which read what is in memory); the right operand of
// a product that stays the same is laid out before the loop as kernels read it. No bit of any
// result changes. Nothing with regions or effects moves, for a loop may have no iteration at all.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// For the block and the regions in it.
void hoist_loop_invariants(ir::Block& block);

}  // namespace strata::pass
