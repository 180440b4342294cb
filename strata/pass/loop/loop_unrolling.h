// Short loops written out.
//
// A loop whose iterations follow from constants and are few becomes its iterations, one after
// another, where its body is small, holds arrays and is elementwise throughout: then the turns join
// each other and what reads them, and nothing between them is stored. So are the rounds of JAX's
// random numbers. No bit changes.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// Writes out the short loops of a block and of the regions in it.
void unroll_loops(ir::Block& block);

}  // namespace strata::pass
