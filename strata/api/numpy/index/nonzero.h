// Where conditions hold, and the elements there.
//
// How long such a result is depends on values. With `size` it is so long: what is beyond is left
// out, what is missing is filled. Without, it has as many entries as there are, which nobody knows
// while a program is recorded: inside of jit, vmap or grad these functions then throw Error and
// name `size`.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "strata/api/array.h"

namespace strata::numpy {

struct Sized {
  internal::Named named = internal::Named();
  std::optional<std::int64_t> size = std::nullopt;
  /// A scalar; of `nonzero` and `argwhere` also one number for each axis, as a vector. Zeros unless
  /// given.
  std::optional<Array> fill_value = std::nullopt;
};
/// The indices of the elements that are not zero, one vector for each axis (i32). Throws Error for
/// a scalar.
[[nodiscard]] std::vector<Array> nonzero(const Operand& x, const Sized& options = {});
/// The indices of the elements of the flattened x that are not zero, a vector (i32).
Array flatnonzero(const Operand& x, const Sized& options = {});
/// The indices of the elements that are not zero, as rows: i32[n, rank].
Array argwhere(const Operand& x, const Sized& options = {});

/// The slices of x along an axis (elements of the flattened x without one) where the vector
/// `condition` holds. A condition that is longer than the axis and holds beyond it is an Error.
Array compress(const Operand& condition, const Operand& x, std::optional<std::int64_t> axis = {},
               const Sized& options = {});
/// The elements where a condition of the same size holds.
Array extract(const Operand& condition, const Operand& x, const Sized& options = {});

/// The indices of an n x n matrix of ones that `mask(ones, k)` leaves, as `tril` and `triu` do.
[[nodiscard]] std::pair<Array, Array> mask_indices(
    std::int64_t n, const std::function<Array(const Array&, std::int64_t)>& mask,
    std::int64_t k = 0, const Sized& options = {}, Where where = Where::current());

/// Without the zeros in front ("f") and behind ("b"), along each axis or those given: slices that
/// are all zero go.
Array trim_zeros(const Operand& x, const std::string& trim = "fb", const Axes& axis = {});

}  // namespace strata::numpy

namespace strata {

using numpy::argwhere;
using numpy::compress;
using numpy::extract;
using numpy::flatnonzero;
using numpy::mask_indices;
using numpy::nonzero;
using numpy::trim_zeros;

}  // namespace strata
