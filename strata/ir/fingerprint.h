// The structure of a block as a string: equal for blocks that compute the same in the same way.
#pragma once

#include <string>

#include "strata/ir/graph.h"

namespace strata::ir {

/// Operation names, operand numbers, attributes, regions and types; no hints, no locations. Values
/// of enclosing blocks are numbered in the order of their first use. Bytes, not for reading.
std::string fingerprint(const Block& block);

}  // namespace strata::ir
