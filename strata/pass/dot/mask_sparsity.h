// Products of which only a band of elements is needed: scores under a causal mask or a window.
//
//   select(j - i <= 0, f(product), c)       element by element; what f gives elsewhere, nobody sees
//
// Such products are marked by an attribute [row, column, low, high]: dimensions of the result, and
// what is between low and high of index[column] - index[row] is needed. Kernels may leave other
// elements out, and write zeros. No bit of the program's results changes.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

inline constexpr const char* kMaskBand = "strata.mask_band";

// The choices themselves are marked, too: [row, column, low, high, other], where an element outside
// of the band is that of operand `other`.
inline constexpr const char* kSelectBand = "strata.select_band";

/// Marks products all readers of which choose by places that are computed from iotas, and such
/// choices.
void mark_mask_sparsity(ir::Block& block);

}  // namespace strata::pass
