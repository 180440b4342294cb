// Elements by their numbers (x[...] and x.at(...): api/index.h).
#pragma once

#include "strata/api/index.h"
#include "strata/api/operators.h"

namespace strata::numpy {

/// Elements of x (of the flattened x without an axis) at integer `indices`, whose axes stand in place of that one. Out of range: `fill_value` (mode
/// "fill", which is the default), the nearest element ("clip", for which negative indices are such too), or counted on from the start ("wrap").
/// Throws Error where there are indices and the axis is empty.
Array take(const Operand& x, const Operand& indices, std::optional<std::int64_t> axis = {}, const AtOptions& options = {});
/// x at indices that have its number of axes, along one axis (of the flattened x where there is none); the others broadcast. Modes as for `x.at`,
/// unless given "fill". Of an empty axis zeros. With "promise_in_bounds" negative indices do not count from the end either, as upstream.
Array take_along_axis(const Operand& x, const Operand& indices, std::optional<std::int64_t> axis = -1, const AtOptions& options = {});

}  // namespace strata::numpy
