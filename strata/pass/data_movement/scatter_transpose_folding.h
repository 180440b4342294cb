// Updates of a scatter that are read transposed.
//
//   scatter(x, i, transpose(u))  ->  scatter(x, i, u), whose window dimensions stand elsewhere
//
// `jax.vmap` puts the batch first: what it moves is what the scatter goes through for each index.
// As it is, neighbours of a slice are read side by side. Updates meet an element in the same
// order, so no bit changes.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// For the block and the regions in it. Returns whether anything changed.
bool fold_transposes_into_scatters(ir::Block& block);

}  // namespace strata::pass
