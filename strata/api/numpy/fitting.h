// Polynomials through points, and where they are zero.
#pragma once

#include <optional>
#include <utility>

#include "strata/api/array.h"

namespace strata::numpy {

struct Polyfit {
  internal::Named named = internal::Named();
  /// Singular values of the scaled powers below this part of the greatest count as 0; the number of
  /// points times the unit in the last place of x's dtype unless given, which integers do not have.
  std::optional<double> rcond = std::nullopt;
  /// Weights of the points, [m]: what is squared is w (y - p(x)).
  std::optional<Array> w = std::nullopt;
};
/// Coefficients, the highest power first, of the polynomials of degree `deg` nearest to the values
/// y at the points x by least squares: x [m], y [m] or [m, k], result [deg + 1] or [deg + 1, k];
/// floats and complex numbers of f32 and wider. Throws Error for other shapes, no points, and deg <
/// 0.
Array polyfit(const Operand& x, const Operand& y, std::int64_t deg, const Polyfit& options = {});

struct [[nodiscard]] PolyfitResult {
  Array p, resids, rank, s, rcond;
  STRATA_FIELDS(p, resids, rank, s, rcond)
};
/// Upstream's `full=True`: also the sums of squared residuals, rank and singular values of the
/// scaled powers, and rcond.
PolyfitResult polyfit_full(const Operand& x, const Operand& y, std::int64_t deg,
                           const Polyfit& options = {});

/// Upstream's `cov=True`: also the covariances of the coefficients, [deg + 1, deg + 1] or [deg + 1,
/// deg + 1, k], scaled by the residuals over the number of points that are too many (Error unless
/// there are such), or `unscaled`.
[[nodiscard]] std::pair<Array, Array> polyfit_cov(const Operand& x, const Operand& y,
                                                  std::int64_t deg, const Polyfit& options = {},
                                                  bool unscaled = false);

/// The zeros of the polynomial with these coefficients, complex, as eigenvalues of its companion
/// matrix. Leading zeros are left out, of polynomials that are not traced; else they count, and
/// each gives a NaN at the end.
Array roots(const Operand& p, bool strip_zeros = true);

}  // namespace strata::numpy

namespace strata {

using numpy::polyfit;
using numpy::roots;

}  // namespace strata
