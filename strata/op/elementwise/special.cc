// Special functions: those of the normal distribution, of Gamma and its logarithm's derivatives, of
// Bessel.
#include "strata/op/elementwise/function.h"

namespace strata::op {
namespace {

namespace math = loop::math;
using loop::Inst;
using Code = loop::Builder;

/// 2 / sqrt(pi) e^(-x^2).
Value* erf_slope(Builder& b, Value* x) {
  return scaled(b, exp(b, neg(b, mul(b, x, x))), 1.1283791670955126);
}

/// sqrt(pi) / 2 e^(y^2).
Value* erf_inv_slope(Builder& b, Value* y) {
  return scaled(b, exp(b, mul(b, y, y)), 0.886226925452758);
}

/// e^-|x| I0(x) - y (sign x + 1/x), where y / x is 1/2 at 0.
Value* i1e_slope(Builder& b, Value* x, Value* y) {
  Value* at_zero = compare(b, x, zeros_like(b, x), "EQ");
  Value* ratio = select(b, at_zero, full_like(b, x, 0.5),
                        div(b, y, select(b, at_zero, full_like(b, x, 1), x)));
  return sub(b, sub(b, bessel_i0e(b, x), mul(b, y, sign(b, x))), ratio);
}

}  // namespace

std::span<const OpDef> special_defs() {
  static const OpDef rows[] = {
      STRATA_FUNCTION(
          kFloat, bessel_i1e,
          {.name = "chlo.bessel_i1e",
           .summary = "the modified Bessel function of the first kind of order 1, times e^-|x|",
           .jvp = derivative([](Builder& b, Value* x, Value* y, Value* dx) {
             return mul(b, dx, i1e_slope(b, x, y));
           }),
           .transpose = kNotLinear,
           .flops = 30,
           .text = &ir::formats::chlo_elementwise}),
      STRATA_FUNCTION(kFloat, digamma,
                      {.name = "chlo.digamma",
                       .summary = "the derivative of log |Gamma(x)|; NaN at 0, -1, -2 ...",
                       .jvp = derivative([](Builder& b, Value* x, Value*, Value* dx) {
                         return mul(b, dx, polygamma(b, full_like(b, x, 1), x));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::chlo_elementwise}),
      STRATA_FUNCTION(kFloat, erf_inv,
                      {.name = "chlo.erf_inv",
                       .summary = "the inverse of erf; infinite at 1, NaN beyond",
                       .jvp = derivative([](Builder& b, Value*, Value* y, Value* dx) {
                         return mul(b, dx, erf_inv_slope(b, y));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::chlo_elementwise}),
      STRATA_FUNCTION(kFloat, erfc,
                      {.name = "chlo.erfc",
                       .summary = "1 - erf(x), accurate where erf is near 1",
                       .jvp = derivative([](Builder& b, Value* x, Value*, Value* dx) {
                         return mul(b, dx, neg(b, erf_slope(b, x)));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::chlo_elementwise}),
      STRATA_FUNCTION(kFloat, lgamma,
                      {.name = "chlo.lgamma",
                       .summary = "log |Gamma(x)|; infinite at 0, -1, -2 ...",
                       .jvp = derivative([](Builder& b, Value* x, Value*, Value* dx) {
                         return mul(b, dx, digamma(b, x));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::chlo_elementwise}),
      STRATA_FUNCTION(kFloat, bessel_i0e,
                      {.name = "strata.bessel_i0e",
                       .summary = "the modified Bessel function of the first kind of order 0, "
                                  "times e^-|x|; CHLO lacks it",
                       .jvp = derivative([](Builder& b, Value* x, Value* y, Value* dx) {
                         return mul(b, dx, sub(b, bessel_i1e(b, x), mul(b, y, sign(b, x))));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::chlo_elementwise}),
  };
  return rows;
}

}  // namespace strata::op
