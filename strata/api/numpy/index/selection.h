// Elements chosen by numbers and conditions, and indices made of others.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "strata/api/array.h"

namespace strata::numpy {

/// Element by element that of choices[x], all broadcast. A number that is no choice: "raise" an
/// Error (x is not traced then), "wrap", "clip".
Array choose(const Operand& x, const std::vector<Array>& choices,
             const std::string& mode = "raise");
/// The choice of the first condition that holds, else `otherwise`.
Array select(const std::vector<Array>& conditions, const std::vector<Array>& choices,
             const Operand& otherwise = 0);

/// What `piecewise` has where a condition holds: a number, or a function of an element.
class Piece {
 public:
  template <Scalar T>
  Piece(T value) : piece_(Array(value)) {}          // NOLINT: implicit by intent
  Piece(Array value) : piece_(std::move(value)) {}  // NOLINT
  template <class F>
    requires std::is_invocable_r_v<Array, const F&, const Array&>
  Piece(F f) : piece_(std::function<Array(const Array&)>(std::move(f))) {}  // NOLINT
  /// The value, or the function that gives it.
  const std::variant<Array, std::function<Array(const Array&)>>& get() const { return piece_; }

 private:
  std::variant<Array, std::function<Array(const Array&)>> piece_;
};
/// The piece of the last condition that holds, in x's dtype; where none does, the one piece beyond
/// the conditions, or 0.
Array piecewise(const Operand& x, const std::vector<Array>& conditions,
                const std::vector<Piece>& pieces);

/// x with values at indices along an axis (of the flattened x without one), as take_along_axis
/// reads them. Upstream's `inplace = false`.
Array put_along_axis(const Operand& x, const Operand& indices, const Operand& values,
                     std::optional<std::int64_t> axis);

struct RavelIndex {
  internal::Named named = internal::Named();
  /// Indices out of range: "raise" an Error (they are not traced then), "wrap", "clip", or
  /// "ignore".
  std::string mode = "raise";
  /// "C": the last index runs first; "F": the first.
  std::string order = "C";
  std::optional<DType> dtype = std::nullopt;
};
/// The place in an array of these sizes.
Array ravel_multi_index(const std::vector<Array>& multi_index, const Sizes& dims,
                        const RavelIndex& options = {}, Where where = Where::current());
/// The indices of places; what is beyond the array is clipped.
[[nodiscard]] std::vector<Array> unravel_index(const Operand& indices, const Sizes& shape);

/// Vectors along one axis each, so that they broadcast to a grid.
[[nodiscard]] std::vector<Array> ix_(const std::vector<Array>& vectors,
                                     Where where = Where::current());

/// Numbers from `start` below `stop` by `step`; `GridRange::of`: so many, both ends included
/// (upstream's imaginary step).
struct GridRange {
  template <std::integral T>
  GridRange(T from, T below, T by = 1)
      : start(static_cast<double>(from)),
        stop(static_cast<double>(below)),
        step(static_cast<double>(by)),
        whole(true) {}
  template <std::floating_point T>
  GridRange(T from, T below, T by = 1)
      : start(static_cast<double>(from)),
        stop(static_cast<double>(below)),
        step(static_cast<double>(by)) {}
  /// `count` numbers from start to stop, both included (NumPy's step with j).
  static GridRange of(double start, double stop, std::int64_t count) {
    GridRange out(start, stop);
    out.count = count;
    return out;
  }
  double start, stop, step;
  bool whole = false;
  std::optional<std::int64_t> count;
};
/// The coordinates of a grid, stacked: `mgrid({{0, 3}, {0, 2}})` is upstream's `mgrid[0:3, 0:2]`.
/// One range gives its vector.
Array mgrid(const std::vector<GridRange>& ranges, Where where = Where::current());
/// The same of size 1 along the other axes, one array a range.
[[nodiscard]] std::vector<Array> ogrid(const std::vector<GridRange>& ranges,
                                       Where where = Where::current());

}  // namespace strata::numpy

namespace strata {

using numpy::choose;
using numpy::ix_;
using numpy::mgrid;
using numpy::ogrid;
using numpy::piecewise;
using numpy::put_along_axis;
using numpy::ravel_multi_index;
using numpy::select;
using numpy::unravel_index;

}  // namespace strata
