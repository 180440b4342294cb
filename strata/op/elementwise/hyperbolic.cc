// Hyperbolic functions and their inverses; stablehlo.tanh is with the elementary functions.
#include "strata/op/elementwise/complex/functions.h"
#include "strata/op/elementwise/function.h"

namespace strata::op {
namespace {

/// 1 / sqrt(x^2 - 1) for x > 1; two roots, because x^2 may overflow.
Value* acosh_slope(Builder& b, Value* x) {
  Value* one = full_like(b, x, 1);
  return mul(b, rsqrt(b, sub(b, x, one)), rsqrt(b, add(b, x, one)));
}

}  // namespace

std::span<const OpDef> hyperbolic_defs() {
  static const OpDef rows[] = {
      STRATA_FUNCTION(kInexact, acosh,
                      {.name = "chlo.acosh",
                       .summary = "the inverse of cosh that is not negative; NaN below 1",
                       .jvp = derivative([](Builder& b, Value* x, Value*, Value* dx) {
                         return mul(b, dx, acosh_slope(b, x));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::chlo_elementwise,
                       .split = complex_rules::unary<complex_rules::acosh>}),
      STRATA_FUNCTION(kInexact, asinh,
                      {.name = "chlo.asinh",
                       .summary = "the inverse of sinh",
                       .jvp = derivative([](Builder& b, Value* x, Value*, Value* dx) {
                         return mul(b, dx, rsqrt(b, one_plus(b, mul(b, x, x))));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::chlo_elementwise,
                       .split = complex_rules::unary<complex_rules::asinh>}),
      STRATA_FUNCTION(kInexact, atanh,
                      {.name = "chlo.atanh",
                       .summary = "the inverse of tanh; infinite at 1, NaN beyond",
                       .jvp = derivative([](Builder& b, Value* x, Value*, Value* dx) {
                         return div(b, dx, one_minus_square(b, x));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::chlo_elementwise,
                       .split = complex_rules::unary<complex_rules::atanh>}),
      STRATA_FUNCTION(kInexact, cosh,
                      {.name = "chlo.cosh",
                       .summary = "(e^x + e^-x) / 2",
                       .jvp = derivative([](Builder& b, Value* x, Value*, Value* dx) {
                         return mul(b, dx, sinh(b, x));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::chlo_elementwise,
                       .split = complex_rules::unary<complex_rules::cosh>}),
      STRATA_FUNCTION(kInexact, sinh,
                      {.name = "chlo.sinh",
                       .summary = "(e^x - e^-x) / 2, accurate near 0",
                       .jvp = derivative([](Builder& b, Value* x, Value*, Value* dx) {
                         return mul(b, dx, cosh(b, x));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::chlo_elementwise,
                       .split = complex_rules::unary<complex_rules::sinh>}),
  };
  return rows;
}

}  // namespace strata::op
