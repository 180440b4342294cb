// Products of which an operand has blocks of zeros that nobody knows before the program runs:
// probabilities under a mask, their gradients.
//
// Such products are marked by an attribute with the sides (0: left, 1: right); kernels then look
// where the zeros of a tile's rows begin and end, and leave those terms of the sums out. A mark
// says nothing about values, only that looking is worth while. Terms that are zero change no sum,
// but for what docs/exceptions.md lists.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

inline constexpr const char* kZeroBlockSides = "strata.zero_sides";

/// Marks products with an operand that is made, element by element, of a choice by a mask (one that
/// no float decides) between something and zero, or of the exponential of one between something and
/// a stand-in for minus infinity.
void mark_block_sparsity(ir::Block& block);

}  // namespace strata::pass
