// Products whose sums have one term each are maps.
//
//   dot(x, y)  ->  fma(x, y, +0), both broadcast over what the other has      (the derivative of a
//   layer with one result is stated so)
//
// It is a chain of one multiply-add from zero: no bit changes (+0 where a factor is zero, and a
// product that is too small for a float keeps its sign), and the map is computed where it is read.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// For the block and the regions in it. Returns whether anything changed; the products that became
/// maps are dead then.
bool convert_degenerate_dots(ir::Block& block);

}  // namespace strata::pass
