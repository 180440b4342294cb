#include "strata/api/scipy/special.h"

#include <cmath>
#include <numbers>

#include "strata/api/lax.h"
#include "strata/api/trace/compose.h"

namespace strata::scipy::special {
namespace {

using detail::real_float;
using detail::real_pair;
using internal::as_inexact;
using internal::describe;
using internal::fail;
using internal::number_like;
using internal::Site;
using internal::strong;

/// f32 and f64 only, as in JAX.
void require_wide(const char* name, const Array& x) {
  if (x.dtype() != DType::f32 && x.dtype() != DType::f64)
    fail(name, "f32 or f64 is needed, got {}", describe(x.type()));
}

}  // namespace

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
