#include "strata/api/scipy/special.h"

#include <cmath>
#include <numbers>

#include "strata/api/compose.h"
#include "strata/api/lax.h"

namespace strata::scipy::special {
namespace {

using internal::as_inexact;
using internal::describe;
using internal::fail;
using internal::number_like;
using internal::Site;
using internal::strong;

Array real_float(const char* name, const Array& x) {
  if (is_complex(x.dtype())) fail(name, "real numbers are needed, got {}", describe(x.type()));
  return as_inexact(x);
}

struct Pair {
  Array x, y;
};
Pair real_pair(const char* name, const Array& x, const Array& y) {
  std::vector<Array> both = internal::broadcast_promoted(name, {x, y});
  return {real_float(name, both[0]), real_float(name, both[1])};
}

/// f32 and f64 only, as in JAX.
void require_wide(const char* name, const Array& x) {
  if (x.dtype() != DType::f32 && x.dtype() != DType::f64)
    fail(name, "f32 or f64 is needed, got {}", describe(x.type()));
}

}  // namespace

Array gammaln(const Operand& x) {
  Site site(x);
  return lax::lgamma(real_float("gammaln", x));
}
Array loggamma(const Operand& operand) {
  Site site(operand);
  const Array x = real_float("loggamma", operand);
  return numpy::where(x > 0, lax::lgamma(x), number_like(x, numpy::nan));
}
Array digamma(const Operand& x) {
  Site site(x);
  return lax::digamma(real_float("digamma", x));
}
Array gammasgn(const Operand& operand) {
  Site site(operand);
  const Array x = real_float("gammasgn", operand), whole = numpy::floor(x);
  const Array pole = ((x < 0) & (x == whole)) | numpy::isnan(x);
  const Array below = ((x < 0) & (whole % 2 != 0)) | ((x == 0) & numpy::signbit(x));
  return strong(numpy::where(pole, number_like(x, numpy::nan),
                             numpy::where(below, number_like(x, -1), number_like(x, 1))));
}
Array gamma(const Operand& x) {
  Site site(x);
  return strong(gammasgn(x) * numpy::exp(gammaln(x)));
}
Array polygamma(const Operand& n, const Operand& x) {
  Site site(n);
  if (!is_integer(n->dtype()))
    fail("polygamma", "the order is an integer, got {}", describe(n->type()));
  const auto [order, at] = real_pair("polygamma", n, x);
  return lax::polygamma(order, at);
}
Array multigammaln(const Operand& operand, std::int64_t d) {
  Site site(operand);
  const Array x = real_float("multigammaln", operand);
  Array sum = number_like(x, 0.25 * static_cast<double>(d * (d - 1)) * std::log(numpy::pi));
  for (std::int64_t i = 0; i < d; ++i) sum = sum + gammaln(x - static_cast<double>(i) / 2);
  return sum;
}
Array factorial(const Operand& operand) {
  Site site(operand);
  const Array n = real_float("factorial", operand);
  return numpy::where(n < 0, 0, numpy::exp(gammaln(n + 1)));
}
Array poch(const Operand& left, const Operand& right) {
  Site site(left);
  const auto [z, m] = real_pair("poch", left, right);
  return numpy::where(m == 0, Array::scalar(1.0, z.dtype(), false), gamma(z + m) / gamma(z));
}
Array gammainc(const Operand& left, const Operand& right) {
  Site site(left);
  const auto [a, x] = real_pair("gammainc", left, right);
  return lax::igamma(a, x);
}
Array gammaincc(const Operand& left, const Operand& right) {
  Site site(left);
  const auto [a, x] = real_pair("gammaincc", left, right);
  return lax::igammac(a, x);
}
Array betainc(const Operand& a, const Operand& b, const Operand& x) {
  Site site(a);
  std::vector<Array> all = internal::broadcast_promoted("betainc", {a, b, x});
  for (Array& v : all) v = real_float("betainc", v);
  return lax::betainc(all[0], all[1], all[2]);
}
Array betaln(const Operand& left, const Operand& right) {
  Site site(left);
  const auto [a, b] = real_pair("betaln", left, right);
  return gammaln(a) + gammaln(b) - gammaln(a + b);
}
Array beta(const Operand& left, const Operand& right) {
  Site site(left);
  const auto [a, b] = real_pair("beta", left, right);
  return strong(gammasgn(a) * gammasgn(b) * gammasgn(a + b) * numpy::exp(betaln(a, b)));
}
Array zeta(const Operand& x, const Operand& q) {
  Site site(x);
  const auto [s, from] = real_pair("zeta", x, q);
  return lax::zeta(s, from);
}

Array erf(const Operand& x) {
  Site site(x);
  return lax::erf(real_float("erf", x));
}
Array erfc(const Operand& x) {
  Site site(x);
  return lax::erfc(real_float("erfc", x));
}
Array erfinv(const Operand& x) {
  Site site(x);
  return lax::erf_inv(real_float("erfinv", x));
}
Array ndtr(const Operand& x) {
  Site site(x);
  require_wide("ndtr", x);
  return strong(0.5 * lax::erfc(-x.array / std::numbers::sqrt2));
}
Array log_ndtr(const Operand& operand) {
  Site site(operand);
  require_wide("log_ndtr", operand);
  const Array& x = operand;
  const double low = x.dtype() == DType::f64 ? -20 : -10, high = x.dtype() == DType::f64 ? 8 : 5;
  // Near 1: -ndtr(-x). Far below 0: the asymptotic series of erfc.
  const Array far = numpy::where(x < low, x, low), inverse = 1 / numpy::square(far);
  const Array series = -0.5 * numpy::square(far) - numpy::log(-far) -
                       0.5 * std::log(2 * numpy::pi) +
                       numpy::log1p(inverse * (-1 + inverse * (3 - 15 * inverse)));
  const Array near = numpy::log(ndtr(numpy::clip(x, low, high)));
  return strong(numpy::where(x > high, -ndtr(-x), numpy::where(x > low, near, series)));
}

Array expit(const Operand& x) {
  Site site(x);
  return lax::logistic(as_inexact(x));
}
Array logit(const Operand& operand) {
  Site site(operand);
  const Array x = as_inexact(operand);
  return numpy::log(x / (1 - x));
}
Array xlogy(const Operand& left, const Operand& right) {
  Site site(left);
  const std::vector<Array> both = internal::broadcast_promoted("xlogy", {left, right});
  const Array x = as_inexact(both[0]), y = as_inexact(both[1]), counts = (x != 0) | numpy::isnan(y);
  return numpy::where(counts, x * numpy::log(numpy::where(counts, y, 1)), numpy::zeros_like(x));
}
Array xlog1py(const Operand& left, const Operand& right) {
  Site site(left);
  const std::vector<Array> both = internal::broadcast_promoted("xlog1py", {left, right});
  const Array x = as_inexact(both[0]), y = as_inexact(both[1]), counts = (x != 0) | numpy::isnan(y);
  return numpy::where(counts, x * numpy::log1p(numpy::where(counts, y, 0)), numpy::zeros_like(x));
}
Array entr(const Operand& operand) {
  Site site(operand);
  const Array x = real_float("entr", operand);
  return numpy::where(x < 0, -numpy::inf, -xlogy(x, x));
}
Array rel_entr(const Operand& left, const Operand& right) {
  Site site(left);
  const auto [p, q] = real_pair("rel_entr", left, right);
  const Array positive = (p > 0) & (q > 0), zero = (p == 0) & (q >= 0);
  const Array safe_p = numpy::where(positive, p, 1), safe_q = numpy::where(positive, q, 1);
  const Array value = safe_p * numpy::log(safe_p) - safe_p * numpy::log(safe_q);
  return numpy::where(positive, value, numpy::where(zero, number_like(p, 0), numpy::inf));
}
Array kl_div(const Operand& left, const Operand& right) {
  Site site(left);
  const auto [p, q] = real_pair("kl_div", left, right);
  return rel_entr(p, q) - p + q;
}
namespace {
/// expm1(l y) / l, y for l = 0.
Array boxcox_of_log(const Array& y, const Array& lambda) {
  const Array zero = lambda == 0, safe = numpy::where(zero, numpy::ones_like(lambda), lambda);
  return numpy::where(zero, y, numpy::expm1(safe * y) / safe);
}
}  // namespace
Array boxcox(const Operand& left, const Operand& right) {
  Site site(left);
  const auto [x, lambda] = real_pair("boxcox", left, right);
  return boxcox_of_log(numpy::log(x), lambda);
}
Array boxcox1p(const Operand& left, const Operand& right) {
  Site site(left);
  const auto [x, lambda] = real_pair("boxcox1p", left, right);
  return boxcox_of_log(numpy::log1p(x), lambda);
}

Array i0e(const Operand& x) {
  Site site(x);
  return lax::bessel_i0e(real_float("i0e", x));
}
Array i1e(const Operand& x) {
  Site site(x);
  return lax::bessel_i1e(real_float("i1e", x));
}
Array i0(const Operand& x) {
  Site site(x);
  return numpy::exp(numpy::abs(as_inexact(x))) * i0e(x);
}
Array i1(const Operand& x) {
  Site site(x);
  return numpy::exp(numpy::abs(as_inexact(x))) * i1e(x);
}

}  // namespace strata::scipy::special
