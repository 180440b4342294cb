// Products that are read transposed are made transposed.
//
//   transpose(dot(l, r)) = dot(r, l)      (how derivatives of products are said), where nothing
//   else reads the product
//                                           and l does not become a right operand that kernels have
//                                           to lay out anew
//
// Rows of the product that end up along memory become its columns; of a permutation that moves more
// (heads in attention), the rest stays, which keeps neighbours together.
//
// The terms of a sum keep their order and each is the same number, so no bit changes, but no kernel
// has to gather columns.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// For the block and the regions in it. Returns whether anything changed; the products that were
/// turned are dead then.
bool fold_transposes_into_dots(ir::Block& block);

}  // namespace strata::pass
