// A product of which nothing but a slice is read makes no more than that slice.
//
//   slice(dot(x, y))  ->  dot(slice(x), slice(y))
//
// The gradient of a recurrent network that joins its state and its input is such a product, where
// nobody asks for the input's. Each element's sum is what it was, so no bit changes.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// For the block and the regions in it. Returns whether anything changed; products that were said
/// anew are dead then.
bool slice_dots(ir::Block& block);

}  // namespace strata::pass
