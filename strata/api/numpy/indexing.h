// Elements by their numbers (x[...] and x.at(...): api/index.h).
#pragma once

#include <string>

#include "strata/api/array.h"
#include "strata/api/operators.h"

namespace strata::numpy {

/// Elements of x along an axis at integer `indices`; out of range: NaN for floats, the extreme value for integers
/// (mode "fill"), or the nearest element ("clip").
Array take(const Operand& x, const Operand& indices, std::int64_t axis, const std::string& mode = "fill");
/// x at indices that have its number of axes, along one axis.
Array take_along_axis(const Operand& x, const Operand& indices, std::int64_t axis);

}  // namespace strata::numpy
