// Reads of an array go before the update of it.
//
//   u = dynamic_update_slice(x, v, i); y = dynamic_slice(x, j)   ->   y, then u
//
// An update changes an array where it lies if nobody asks for the old elements afterwards. Which
// operation stands first in a program says nothing of that where none depends on the other; this
// puts them so that no copy is needed. Only the order changes.
#pragma once

#include "strata/ir/graph.h"

namespace strata::transform {

/// The arrays that an operation may change where they lie, as far as a copy of them would cost
/// something: what scatter and dynamic_update_slice update, what loops begin with, and what a
/// branch reads and returns the like of.
ir::Values taken_arrays(const ir::Op& op);

/// Moves what reads such an array, and what that needs, in front of the operation that takes it,
/// unless it depends on its results or has an effect. For the block and the regions in it. Looks at
/// a bounded number of operations; of a very large block the last ones stay as they are. Returns
/// whether anything moved.
bool read_first(ir::Block& block);

}  // namespace strata::transform
