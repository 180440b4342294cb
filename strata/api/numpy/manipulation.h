// Shapes and places of elements; no element changes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/api/array.h"
#include "strata/api/operators.h"

namespace strata::numpy {

/// One size may be -1.
Array reshape(const Operand& x, const Sizes& shape);
Array ravel(const Operand& x);
/// Result axis i is axis axes[i] of x; all reversed without `axes`.
Array transpose(const Operand& x, const Sizes& axes = {});
inline Array permute_dims(const Operand& x, const Sizes& axes) { return transpose(x, axes); }
/// The last two axes exchanged.
Array matrix_transpose(const Operand& x);
/// Axes `from` of x become axes `to`; the others keep their order.
Array moveaxis(const Operand& x, const Sizes& from, const Sizes& to);
/// The axis moved in front of axis `start`.
Array rollaxis(const Operand& x, std::int64_t axis, std::int64_t start = 0);
Array swapaxes(const Operand& x, std::int64_t axis1, std::int64_t axis2);
Array expand_dims(const Operand& x, const Axes& axis);
/// Drops axes of size 1: all, or the given ones.
Array squeeze(const Operand& x, const Axes& axis = {});
Array broadcast_to(const Operand& x, const Sizes& shape);
[[nodiscard]] std::vector<Array> broadcast_arrays(const std::vector<Array>& arrays,
                                                  Where where = Where::current());
/// With at least so many axes: new ones stand in front, the third of `atleast_3d` behind.
Array atleast_1d(const Operand& x);
Array atleast_2d(const Operand& x);
Array atleast_3d(const Operand& x);

Array flip(const Operand& x, const Axes& axis = {});
/// Columns, and rows, in reverse.
Array fliplr(const Operand& x);
Array flipud(const Operand& x);
/// Turned k times from the first of two axes towards the second.
Array rot90(const Operand& x, std::int64_t k = 1, const Sizes& axes = {0, 1});
/// Elements pushed off one end come in at the other; of the flattened array without an axis.
Array roll(const Operand& x, const Sizes& shift, const Axes& axis = {});
/// Each element so many times; of the flattened array without an axis.
Array repeat(const Operand& x, std::int64_t times, std::optional<std::int64_t> axis = {});
/// Element i times[i] times (one number counts for all), `total` elements: the last ones again
/// where there are fewer.
Array repeat(const Operand& x, const std::vector<std::int64_t>& times,
             std::optional<std::int64_t> axis = {}, std::optional<std::int64_t> total = {});
Array tile(const Operand& x, const Sizes& repetitions);
/// The elements again and again until the shape is full.
Array resize(const Operand& x, const Sizes& new_shape);

struct PadWidth {
  std::int64_t before = 0, after = 0;
};
struct Pad {
  internal::Named named = internal::Named();
  /// "constant" "empty" "edge" "reflect" "symmetric" "wrap" "maximum" "minimum" "mean"
  /// "linear_ramp"
  std::string mode = "constant";
  std::optional<Array> constant_values = std::nullopt, end_values = std::nullopt;
};
/// One width for each axis, or one for all.
Array pad(const Operand& x, const std::vector<PadWidth>& widths, const Pad& options);
Array pad(const Operand& x, const std::vector<PadWidth>& widths, const Operand& value = 0);
/// The same width on all sides.
template <std::integral T>
Array pad(const Operand& x, T width, const Pad& options = {}) {
  const auto w = static_cast<std::int64_t>(width);
  return pad(x, std::vector<PadWidth>{{w, w}}, options);
}

}  // namespace strata::numpy
