// What weights are, in a few letters: so that whoever left them out of a file knows them again.
//
//   model::fingerprint(params)      // "134515008:1a2b3c4d"
#pragma once

#include <string>

#include "strata/api/tree/tree.h"

namespace strata::model {

/// The number of elements and the CRC-32C of names, types and bytes of all leaves, by name: equal
/// for equal weights, whatever their order.
std::string fingerprint(const tree::Tree& weights);

}  // namespace strata::model
