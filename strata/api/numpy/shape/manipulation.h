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
/// The elements in row-major order as a vector.
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
/// Two axes exchanged.
Array swapaxes(const Operand& x, std::int64_t axis1, std::int64_t axis2);
/// With axes of size 1 at these places of the result.
Array expand_dims(const Operand& x, const Axes& axis);
/// Drops axes of size 1: all, or the given ones.
Array squeeze(const Operand& x, const Axes& axis = {});
/// x repeated along new axes in front and along those of size 1. Throws Error where a size fits
/// neither.
Array broadcast_to(const Operand& x, const Sizes& shape);
/// All of them in the shape that they have in common.
[[nodiscard]] std::vector<Array> broadcast_arrays(const std::vector<Array>& arrays,
                                                  Where where = Where::current());
/// With at least so many axes: new ones stand in front, the third of `atleast_3d` behind.
Array atleast_1d(const Operand& x);
/// x with axes of size 1 in front until it has two.
Array atleast_2d(const Operand& x);
/// x with axes of size 1 until it has three: (n) becomes (1, n, 1), (m, n) becomes (m, n, 1).
Array atleast_3d(const Operand& x);

/// The elements in reverse order along these axes, all of them unless given.
Array flip(const Operand& x, const Axes& axis = {});
/// Columns, and rows, in reverse.
Array fliplr(const Operand& x);
/// The rows in reverse order.
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
/// x so many times along each axis.
Array tile(const Operand& x, const Sizes& repetitions);
/// The elements again and again until the shape is full.
Array resize(const Operand& x, const Sizes& new_shape);

/// How much stands before and behind along each axis, for `pad`.
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
/// x with elements before and behind along each axis, by one width for each axis or one for all: a
/// constant, or what `mode` says.
Array pad(const Operand& x, const std::vector<PadWidth>& widths, const Pad& options);
Array pad(const Operand& x, const std::vector<PadWidth>& widths, const Operand& value = 0);
/// x with `width` elements on all sides.
template <std::integral T>
Array pad(const Operand& x, T width, const Pad& options = {}) {
  const auto w = static_cast<std::int64_t>(width);
  return pad(x, std::vector<PadWidth>{{w, w}}, options);
}

}  // namespace strata::numpy

namespace strata {

using numpy::atleast_1d;
using numpy::atleast_2d;
using numpy::atleast_3d;
using numpy::broadcast_arrays;
using numpy::broadcast_to;
using numpy::expand_dims;
using numpy::flip;
using numpy::fliplr;
using numpy::flipud;
using numpy::matrix_transpose;
using numpy::moveaxis;
using numpy::pad;
using numpy::PadWidth;
using numpy::permute_dims;
using numpy::ravel;
using numpy::repeat;
using numpy::reshape;
using numpy::resize;
using numpy::roll;
using numpy::rollaxis;
using numpy::rot90;
using numpy::squeeze;
using numpy::swapaxes;
using numpy::tile;
using numpy::transpose;

}  // namespace strata
