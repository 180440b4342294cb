// Smaller graphs with the same bits.
//
// Only rewrites that change no bit of any result (a NaN stays a NaN): the rules of algebra.h;
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
