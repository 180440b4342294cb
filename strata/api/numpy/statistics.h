// Statistics: reductions that leave out NaN, averages, quantiles, differences, covariance.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/api/numpy/reductions.h"

namespace strata::numpy {

// NaN counts as absent; where all are, max, min, mean and var are NaN, argmax and argmin -1.
/// The sum of what is a number; 0 of nothing.
Array nansum(const Operand& x, const Reduce& options = {});
/// The product of what is a number; 1 of nothing.
Array nanprod(const Operand& x, const Reduce& options = {});
/// The greatest of what is a number; NaN where nothing is.
Array nanmax(const Operand& x, const Reduce& options = {});
/// The least of what is a number; NaN where nothing is.
Array nanmin(const Operand& x, const Reduce& options = {});
/// The mean of what is a number; NaN where nothing is.
Array nanmean(const Operand& x, const Reduce& options = {});
/// The variance of what is a number (divided by their count - ddof).
Array nanvar(const Operand& x, const Variance& options = {});
/// The square root of nanvar.
Array nanstd(const Operand& x, const Variance& options = {});
/// The index of the greatest of what is a number; -1 where nothing is.
Array nanargmax(const Operand& x, const Position& options = {});
/// The index of the least of what is a number; -1 where nothing is.
Array nanargmin(const Operand& x, const Position& options = {});
/// Sums of the first elements along an axis, NaN as 0.
Array nancumsum(const Operand& x, const Cumulative& options = {});
/// Products of the first elements along an axis, NaN as 1.
Array nancumprod(const Operand& x, const Cumulative& options = {});

struct Average {
  internal::Named named = internal::Named();
  Axes axis = {};
  /// Of x's shape, or of the one axis given.
  std::optional<Array> weights = std::nullopt;
  bool keepdims = false;
};
/// The mean, weighted where there are weights: one an element, or one a place along the axis.
Array average(const Operand& x, const Average& options = {});

struct Quantile {
  internal::Named named = internal::Named();
  Axes axis = {};
  /// Between two elements: "linear" "lower" "higher" "midpoint" "nearest".
  std::string method = "linear";
  bool keepdims = false;
};
/// The q-th quantile, q in [0, 1] (a scalar, or a vector whose axis comes first). NaN where an
/// element is.
Array quantile(const Operand& x, const Operand& q, const Quantile& options = {});
/// The q-th percentile, q in [0, 100] (a scalar, or a vector whose axis comes first). NaN where an
/// element is.
Array percentile(const Operand& x, const Operand& q, const Quantile& options = {});
/// The element in the middle, the mean of two for an even number; NaN where one is.
Array median(const Operand& x, const Reduce& options = {});
/// The q-th quantile of the elements that are not NaN, q in [0, 1].
Array nanquantile(const Operand& x, const Operand& q, const Quantile& options = {});
/// The percentile of what is a number, q in [0, 100].
Array nanpercentile(const Operand& x, const Operand& q, const Quantile& options = {});
/// The median of what is a number.
Array nanmedian(const Operand& x, const Reduce& options = {});

struct Diff {
  internal::Named named = internal::Named();
  std::int64_t n = 1, axis = -1;
  std::optional<Array> prepend = std::nullopt, append = std::nullopt;
};
/// Differences of neighbours, n times; of booleans: whether they differ.
Array diff(const Operand& x, const Diff& options = {});
/// Differences of neighbours in the flattened array, with `to_begin` before and `to_end` behind.
Array ediff1d(const Operand& x, const std::optional<Operand>& to_end = {},
              const std::optional<Operand>& to_begin = {});
/// Central differences (at the ends one-sided ones) along each axis, or those given, over so much
/// spacing.
[[nodiscard]] std::vector<Array> gradient(const Operand& f, const Operand& spacing = 1.0,
                                          const Axes& axis = {});

struct Trapezoid {
  internal::Named named = internal::Named();
  /// Where the values stand; equally spaced otherwise.
  std::optional<Array> x = std::nullopt;
  double dx = 1;
  std::int64_t axis = -1;
};
/// The integral by trapezoids.
Array trapezoid(const Operand& y, const Trapezoid& options = {});

struct Covariance {
  internal::Named named = internal::Named();
  /// Further variables; whether variables are rows.
  std::optional<Array> y = std::nullopt;
  bool rowvar = true, bias = false;
  std::optional<std::int64_t> ddof = std::nullopt;
  /// How often an observation was made, and how much it counts.
  std::optional<Array> fweights = std::nullopt, aweights = std::nullopt;
};
/// The covariance of variables, and the same divided by their deviations.
Array cov(const Operand& x, const Covariance& options = {});
/// The correlation of variables, rows unless `rowvar` is false: the covariance of standardised
/// ones.
Array corrcoef(const Operand& x, const Covariance& options = {});

}  // namespace strata::numpy

namespace strata {

using numpy::average;
using numpy::corrcoef;
using numpy::cov;
using numpy::diff;
using numpy::ediff1d;
using numpy::gradient;
using numpy::median;
using numpy::nanargmax;
using numpy::nanargmin;
using numpy::nancumprod;
using numpy::nancumsum;
using numpy::nanmax;
using numpy::nanmean;
using numpy::nanmedian;
using numpy::nanmin;
using numpy::nanpercentile;
using numpy::nanprod;
using numpy::nanquantile;
using numpy::nanstd;
using numpy::nansum;
using numpy::nanvar;
using numpy::percentile;
using numpy::quantile;
using numpy::trapezoid;

}  // namespace strata
