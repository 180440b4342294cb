#include "strata/api/numpy/fitting.h"

#include <limits>

#include "strata/api/index.h"
#include "strata/api/matrices.h"
#include "strata/api/numpy/constants.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/index/indexing.h"
#include "strata/api/numpy/index/nonzero.h"
#include "strata/api/numpy/index/sized.h"
#include "strata/api/numpy/index/sorting.h"
#include "strata/api/numpy/linalg.h"
#include "strata/api/numpy/products.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/diagonals.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"

namespace strata::numpy {
namespace {

using internal::cast;
using internal::describe;
using internal::fail;
using internal::Site;

void check_points(const Array& x, const Array& y, std::int64_t deg) {
  if (deg < 0) fail("polyfit", "the degree is at least 0, got {}", deg);
  if (x.ndim() != 1 || x.size() == 0)
    fail("polyfit", "the points are a vector of one or more, got {}", describe(x.type()));
  if (y.ndim() < 1 || y.ndim() > 2)
    fail("polyfit", "the values are a vector or a matrix, got {}", describe(y.type()));
  if (x.shape(0) != y.shape(0))
    fail("polyfit", "there are {} points and {} values: {} and {}", x.shape(0), y.shape(0),
         describe(x.type()), describe(y.type()));
}

double usual_rcond(const Array& x) {
  if (!is_inexact(x.dtype()))
    fail("polyfit", "rcond is needed for points of {}", describe(x.type()));
  return static_cast<double>(x.size()) * internal::epsilon_of(x.dtype());
}

/// The least squares problem: powers scaled to columns of length 1, and what they are to give.
struct Problem {
  Array powers, scale, values;
};

Problem problem(const Array& x, const Array& y, std::int64_t deg,
                const std::optional<Array>& weights) {
  Array powers = vander(x, deg + 1), values = y;
  if (weights) {
    const Array w = internal::as_inexact(*weights);
    if (w.ndim() != 1 || w.shape(0) != y.shape(0))
      fail("polyfit", "there is a weight for each of {}, got {}", describe(y.type()),
           describe(w.type()));
    powers = powers * expand_dims(w, 1);
    values = values * (y.ndim() == 2 ? expand_dims(w, 1) : w);
  }
  const Array scale = sqrt(sum(powers * powers, 0));
  return {powers / expand_dims(scale, 0), scale, values};
}

struct Solved {
  Problem problem;
  PolyfitResult result;
};

Solved solve(const Array& x, const Array& y, std::int64_t deg, const Polyfit& options) {
  check_points(x, y, deg);
  const double rcond = options.rcond ? *options.rcond : usual_rcond(x);
  Problem p = problem(x, y, deg, options.w);
  const linalg::LstsqResult least = linalg::lstsq(p.powers, p.values, {.rcond = rcond});
  const Array scale = least.x.ndim() > 1 ? expand_dims(p.scale, 1) : p.scale;
  return {std::move(p), {least.x / scale, least.residuals, least.rank, least.s, Array(rcond)}};
}

Array zeros_of(const Array& p) {
  if (p.size() < 2)
    return zeros(
        {0},
        internal::promoted("roots", std::vector<Array>{p, Array(std::complex<float>(0))}).dtype);
  Array companion = diag(ones({p.size() - 2}, p.dtype()), -1);
  return linalg::eigvals(companion.at({0, slice()}).set(-p[slice(1, none)] / p[0]));
}

/// Leading zeros go to the end, where the zeros that they give are NaN.
Array zeros_beside_nans(const Array& p, const Array& leading) {
  const Array shifted = take(p, (arange(p.size()) + leading) % p.size(), 0);
  const Array found = zeros_of(shifted), last = take(found, argsort((found == 0).astype(int32)), 0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return where(arange(found.size()) < found.size() - leading, last,
               cast(Array(std::complex<double>(nan, nan)), {found.dtype(), false}));
}

}  // namespace

Array polyfit(const Operand& x, const Operand& y, std::int64_t deg, const Polyfit& options) {
  Site site(x);
  return solve(x, y, deg, options).result.p;
}

PolyfitResult polyfit_full(const Operand& x, const Operand& y, std::int64_t deg,
                           const Polyfit& options) {
  Site site(x);
  return solve(x, y, deg, options).result;
}

std::pair<Array, Array> polyfit_cov(const Operand& x, const Operand& y, std::int64_t deg,
                                    const Polyfit& options, bool unscaled) {
  Site site(x);
  const Solved s = solve(x, y, deg, options);
  const std::int64_t spare = x->size() - deg - 1;
  if (!unscaled && spare <= 0)
    fail("polyfit",
         "{} points are not more than {} coefficients, so that their covariance has no scale",
         x->size(), deg + 1);
  const Array base = linalg::inv(matmul(matrix_transpose(s.problem.powers), s.problem.powers)) /
                     outer(s.problem.scale, s.problem.scale);
  const Array factor =
      atleast_1d(unscaled ? Array(1.0) : s.result.resids / static_cast<double>(spare));
  if (y->ndim() == 1) return {s.result.p, base * expand_dims(factor, 0)};
  return {s.result.p, expand_dims(base, 2) * expand_dims(expand_dims(factor, 0), 0)};
}

Array roots(const Operand& operand, bool strip_zeros) {
  Site site(operand);
  const Array p =
      cast(atleast_1d(operand), {internal::inexact({operand->dtype(), false}).dtype, false});
  if (p.ndim() != 1) fail("roots", "coefficients are a vector, got {}", describe(p.type()));
  if (p.size() < 2) return zeros_of(p);
  const Array is_zero = p == 0, leading = where(all(is_zero), p.size(), argmin(is_zero));
  if (!strip_zeros) return zeros_beside_nans(p, leading);
  internal::require_known("roots", p, "give strip_zeros = false in jit, vmap and grad");
  return zeros_of(p[slice(leading.item<std::int64_t>(), none)]);
}

}  // namespace strata::numpy
