// How values are printed.
#pragma once

#include <string>

#include "strata/type/literal.h"

namespace strata::op {

/// As interpreter.print and StableHLO's interpreter show a tensor, a row a line:
///
///   tensor<2x2xi64> {
///     [
///       [1, 2],
///       [3, 4]
///     ]
///   }
std::string value_text(const Literal& value);
/// On one line, as a constant: "dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>", every element of it.
std::string dense_value_text(const Literal& value);

}  // namespace strata::op
