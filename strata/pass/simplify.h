// Smaller graphs with the same bits.
//
// Only rewrites that change no bit of any result (a NaN stays a NaN): x * 1, x / 1, x - 0, x + -0,
// not x + 0 (which turns -0 into 0) and not x * 0; integers also x + 0 and x * 0; double negation;
// chains of reshapes, transpositions and broadcasts; dimensions that a transposition between two
// reshapes does not part; conversions to the same dtype, or there and back through a wider one;
// moves that move nothing; reductions of one element, and of transposed arrays whose order stays;
// arrays without elements, whatever they would be made of; selects and branches whose choice is
// constant. Equal operations are merged, unused ones dropped.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// Simplifies a block and the regions in it, until nothing more is found.
void simplify(ir::Block& block);

}  // namespace strata::pass
