#include "strata/api/scipy/gamma.h"

#include <cmath>

#include "strata/api/lax_elementwise.h"
#include "strata/api/numpy/constants.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/floating.h"
#include "strata/api/trace/compose.h"

namespace strata::scipy::special {

using detail::real_float;
using detail::real_pair;
using internal::as_inexact;
using internal::describe;
using internal::fail;
using internal::number_like;
using internal::Site;
using internal::strong;

Array detail::real_float(const char* name, const Array& x) {
  if (is_complex(x.dtype())) fail(name, "real numbers are needed, got {}", describe(x.type()));
  return as_inexact(x);
}

detail::Pair detail::real_pair(const char* name, const Array& x, const Array& y) {
  std::vector<Array> both = internal::broadcast_promoted(name, {x, y});
  return {real_float(name, both[0]), real_float(name, both[1])};
}

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

}  // namespace strata::scipy::special
