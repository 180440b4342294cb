// Scatters that put one number into each row of an array of equal numbers are selections.
//
//   scatter-add(broadcast(c), i, u) = select(iota == i, c + u, c)      (how the derivative of
//   `take_along_axis` is stated)
//
// Every element is the same number; but nobody has to write and read the array, for selections are
// computed where they are read.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// For the block and the regions in it. Returns whether anything changed; the scatters that became
/// selections are dead then.
bool convert_scatter_to_select(ir::Block& block);

}  // namespace strata::pass
