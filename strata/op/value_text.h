// Arrays as StableHLO's interpreter prints them.
#pragma once

#include <string>

#include "strata/type/literal.h"

namespace strata::op {

/// "tensor<ui8> {1}" for a scalar; otherwise a row of the last dimension a line:
///
///   tensor<2x2xi8> {
///     [
///       [1, 2],
///       [3, 4]
///     ]
///   }
std::string value_text(const Literal& value);

}  // namespace strata::op
