// Updates that a mask takes back.
//
//   select(m, update(x, i, v), x)  ->  update(x, i, select(m[i], v, x[i]))
//
// How a loop writes where it should (`jnp.where(ok, x.at[i].set(v), x)`, a branch under `vmap`):
// said so it costs the array in each iteration, this way the part that is written. Additions that
// are masked out add the neutral element, and where the mask is one for a whole index, the index
// leads outside, where nothing is written. No bit changes.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// For the block and the regions in it. Returns whether anything changed.
bool sink_masks_into_updates(ir::Block& block);

}  // namespace strata::pass
