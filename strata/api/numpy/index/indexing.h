// Elements by their numbers (x[...] and x.at(...): api/index.h).
#pragma once

#include "strata/api/index.h"
#include "strata/api/operators.h"

namespace strata::numpy {

/// Elements of x (of the flattened x without an axis) at integer `indices`, whose axes stand in
/// place of that one. Out of range: `fill_value` (mode "fill", which is the default), the nearest
/// element ("clip", for which negative indices are such too), or counted on from the start
/// ("wrap"). Throws Error where there are indices and the axis is empty.
Array take(const Operand& x, const Operand& indices, std::optional<std::int64_t> axis = {},
           const AtOptions& options = {});
struct TakeAlongAxis {
  internal::Named named = internal::Named();
  /// As for `x.at`: "fill" unless given, "clip", "promise_in_bounds"; "one_hot": a product with
  /// ones and zeros.
  std::string mode = "";
  /// What "fill" reads (AtOptions).
  std::optional<Array> fill_value = {};
  /// Whether negative indices count from the end; where left out they do, unless the mode is
  /// "promise_in_bounds".
  std::optional<bool> wrap_negative_indices = {};
};
/// x at indices that have its number of axes, along one axis (of the flattened x where there is
/// none); the others broadcast. Of an empty axis zeros.
Array take_along_axis(const Operand& x, const Operand& indices,
                      std::optional<std::int64_t> axis = -1, const TakeAlongAxis& options = {});

}  // namespace strata::numpy

namespace strata {

using numpy::take;
using numpy::take_along_axis;

}  // namespace strata
