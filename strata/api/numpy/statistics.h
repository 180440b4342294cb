// Statistics: reductions that leave out NaN, averages, quantiles, differences, covariance.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/api/numpy/reductions.h"

namespace strata::numpy {

// NaN counts as absent; where all are, max, min, mean and var are NaN, argmax and argmin -1.
Array nansum(const Operand& x, const Reduce& options = {});
Array nanprod(const Operand& x, const Reduce& options = {});
Array nanmax(const Operand& x, const Reduce& options = {});
Array nanmin(const Operand& x, const Reduce& options = {});
Array nanmean(const Operand& x, const Reduce& options = {});
Array nanvar(const Operand& x, const Variance& options = {});
Array nanstd(const Operand& x, const Variance& options = {});
Array nanargmax(const Operand& x, const Position& options = {});
Array nanargmin(const Operand& x, const Position& options = {});
Array nancumsum(const Operand& x, const Cumulative& options = {});
Array nancumprod(const Operand& x, const Cumulative& options = {});

struct Average {
  internal::Named named = internal::Named();
  Axes axis;
  /// Of x's shape, or of the one axis given.
  std::optional<Array> weights = std::nullopt;
  bool keepdims = false;
};
Array average(const Operand& x, const Average& options = {});

struct Quantile {
  internal::Named named = internal::Named();
  Axes axis;
  /// Between two elements: "linear" "lower" "higher" "midpoint" "nearest".
  std::string method = "linear";
  bool keepdims = false;
};
/// The q-th quantile, q in [0, 1] (a scalar, or a vector whose axis comes first). NaN where an
/// element is.
Array quantile(const Operand& x, const Operand& q, const Quantile& options = {});
/// The same with q in [0, 100].
Array percentile(const Operand& x, const Operand& q, const Quantile& options = {});
Array median(const Operand& x, const Reduce& options = {});
/// Of the elements that are not NaN.
Array nanquantile(const Operand& x, const Operand& q, const Quantile& options = {});
Array nanpercentile(const Operand& x, const Operand& q, const Quantile& options = {});
Array nanmedian(const Operand& x, const Reduce& options = {});

struct Diff {
  internal::Named named = internal::Named();
  std::int64_t n = 1, axis = -1;
  std::optional<Array> prepend = std::nullopt, append = std::nullopt;
};
/// Differences of neighbours, n times; of booleans: whether they differ.
Array diff(const Operand& x, const Diff& options = {});
/// The same of the flattened array, between what is given.
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
Array corrcoef(const Operand& x, const Covariance& options = {});

}  // namespace strata::numpy
