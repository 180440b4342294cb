// Tokens become arrays of no elements.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// Gives each token the type tensor<0xui8>, which costs nothing to pass on; the order of effects is
/// the order of the operations. Returns whether there was one.
bool erase_tokens(ir::Block& block);

}  // namespace strata::pass
