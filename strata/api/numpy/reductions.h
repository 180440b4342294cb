// Sums and the like, over all axes or some.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <vector>

#include "strata/api/array.h"
#include "strata/api/operators.h"

namespace strata {

/// Options of reductions.
struct Reduce {
  internal::Named named = internal::Named();
  Axes axis = {};
  bool keepdims = false;
  std::optional<DType> dtype = std::nullopt;
  /// What the reduction begins with; and which elements take part.
  std::optional<Array> initial = std::nullopt, where = std::nullopt;
};

/// Options of `var` and `std_`.
struct Variance {
  internal::Named named = internal::Named();
  Axes axis = {};
  bool keepdims = false;
  double ddof = 0;
  std::optional<Array> where = std::nullopt;
};

}  // namespace strata

namespace strata::numpy {

// `sum(x)`, `sum(x, 1)`, `sum(x, {0, 1})`, `sum(x, {.axis = -1, .keepdims = true})`
/// Integers of fewer than 32 bits and booleans are summed as i32 (u32 for unsigned ones).
Array sum(const Operand& x, const Reduce& options = {});
/// Products in the dtype of the elements (narrower integers as i32), of all unless axes are given.
Array prod(const Operand& x, const Reduce& options = {});
/// Integers give floats; bf16 and f16 are summed and divided in f32.
Array mean(const Operand& x, const Reduce& options = {});
/// An axis without elements needs `initial`, and so does `where`.
Array max(const Operand& x, const Reduce& options = {});
/// The least of the elements; NaN where one is. Throws Error for none of them.
Array min(const Operand& x, const Reduce& options = {});
inline Array amax(const Operand& x, const Reduce& options = {}) { return max(x, options); }
inline Array amin(const Operand& x, const Reduce& options = {}) { return min(x, options); }
/// max - min
Array ptp(const Operand& x, const Reduce& options = {});
/// How many elements are not zero, i32 (i64 under x64).
Array count_nonzero(const Operand& x, const Reduce& options = {});
/// Whether one is other than zero.
Array any(const Operand& x, const Reduce& options = {});
/// Whether all are other than zero.
Array all(const Operand& x, const Reduce& options = {});
/// The mean of squared distances to the mean (divided by n - ddof).
Array var(const Operand& x, const Variance& options = {});
/// The square root of `var`.
Array std_(const Operand& x, const Variance& options = {});
/// log(sum(exp(x))) without overflow.
Array logsumexp(const Operand& x, const Reduce& options = {});

// The same with axes alone: `sum(x, 1)`, `sum(x, {0, 1})`. (Templates, because a braced list of
// integers and a list with designators must not be taken for each other.)
#define STRATA_REDUCTION_BY_AXES(name, Options)                                           \
  template <AxesLike T>                                                                   \
  Array name(const Operand& x, const T& axis) {                                           \
    return name(x, Options{.axis = Axes(axis)});                                          \
  }                                                                                       \
  template <std::integral T>                                                              \
  Array name(const Operand& x, std::initializer_list<T> axes) {                           \
    return name(x, Options{.axis = std::vector<std::int64_t>(axes.begin(), axes.end())}); \
  }
STRATA_REDUCTION_BY_AXES(sum, Reduce)
STRATA_REDUCTION_BY_AXES(prod, Reduce)
STRATA_REDUCTION_BY_AXES(mean, Reduce)
STRATA_REDUCTION_BY_AXES(max, Reduce)
STRATA_REDUCTION_BY_AXES(min, Reduce)
STRATA_REDUCTION_BY_AXES(any, Reduce)
STRATA_REDUCTION_BY_AXES(all, Reduce)
STRATA_REDUCTION_BY_AXES(var, Variance)
STRATA_REDUCTION_BY_AXES(std_, Variance)
STRATA_REDUCTION_BY_AXES(logsumexp, Reduce)
#undef STRATA_REDUCTION_BY_AXES

struct Position {
  internal::Named named = internal::Named();
  std::optional<std::int64_t> axis = std::nullopt;
  bool keepdims = false;
};
/// Index (i32, under x64 i64) of the first largest element along an axis, of the flattened array
/// without one; NaN is the largest.
Array argmax(const Operand& x, const Position& options = {});
/// Index (i32, under x64 i64) of the first least element along an axis, of the flattened array
/// without one; NaN is the least.
Array argmin(const Operand& x, const Position& options = {});
inline Array argmax(const Operand& x, std::int64_t axis) {
  return argmax(x, Position{.axis = axis});
}
inline Array argmin(const Operand& x, std::int64_t axis) {
  return argmin(x, Position{.axis = axis});
}

struct Cumulative {
  internal::Named named = internal::Named();
  std::optional<std::int64_t> axis = std::nullopt;
  std::optional<DType> dtype = std::nullopt;
};
/// Sums of the first 1, 2, ... elements along an axis, of the flattened array without one.
Array cumsum(const Operand& x, const Cumulative& options = {});
/// Products of the first 1, 2, ... elements along an axis, of the flattened array without one.
Array cumprod(const Operand& x, const Cumulative& options = {});
inline Array cumsum(const Operand& x, std::int64_t axis) {
  return cumsum(x, Cumulative{.axis = axis});
}
inline Array cumprod(const Operand& x, std::int64_t axis) {
  return cumprod(x, Cumulative{.axis = axis});
}
struct CumulativeArray {
  internal::Named named = internal::Named();
  std::optional<std::int64_t> axis = std::nullopt;
  std::optional<DType> dtype = std::nullopt;
  /// Whether the sum of none stands in front.
  bool include_initial = false;
};
/// The sums of the first elements under the array standard's name; an array of more than one
/// dimension needs an axis.
Array cumulative_sum(const Operand& x, const CumulativeArray& options = {});
/// The products of the first elements under the array standard's name; an array of more than one
/// dimension needs an axis.
Array cumulative_prod(const Operand& x, const CumulativeArray& options = {});

}  // namespace strata::numpy

namespace strata {

#define STRATA_METHOD_BY_AXES(name, Options)                                                  \
  template <AxesLike A>                                                                       \
  Array Array::name(const A& axis, Where where) const {                                       \
    return name(Options{.axis = Axes(axis)}, where);                                          \
  }                                                                                           \
  template <std::integral I>                                                                  \
  Array Array::name(std::initializer_list<I> axes, Where where) const {                       \
    return name(Options{.axis = std::vector<std::int64_t>(axes.begin(), axes.end())}, where); \
  }
STRATA_METHOD_BY_AXES(sum, Reduce)
STRATA_METHOD_BY_AXES(prod, Reduce)
STRATA_METHOD_BY_AXES(mean, Reduce)
STRATA_METHOD_BY_AXES(max, Reduce)
STRATA_METHOD_BY_AXES(min, Reduce)
STRATA_METHOD_BY_AXES(any, Reduce)
STRATA_METHOD_BY_AXES(all, Reduce)
STRATA_METHOD_BY_AXES(var, Variance)
STRATA_METHOD_BY_AXES(std, Variance)
#undef STRATA_METHOD_BY_AXES

}  // namespace strata

namespace strata {

using numpy::all;
using numpy::amax;
using numpy::amin;
using numpy::any;
using numpy::argmax;
using numpy::argmin;
using numpy::count_nonzero;
using numpy::cumprod;
using numpy::cumsum;
using numpy::cumulative_prod;
using numpy::cumulative_sum;
using numpy::logsumexp;
using numpy::max;
using numpy::mean;
using numpy::min;
using numpy::prod;
using numpy::ptp;
using numpy::std_;
using numpy::sum;
using numpy::var;

}  // namespace strata
