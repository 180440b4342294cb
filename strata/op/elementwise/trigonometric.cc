// Inverses of trigonometric functions, and the tangent as CHLO spells it.
#include "strata/op/elementwise/complex/functions.h"
#include "strata/op/elementwise/function.h"

namespace strata::op {

std::span<const OpDef> trigonometric_defs() {
  static const OpDef rows[] = {
      STRATA_FUNCTION(kInexact, acos,
                      {.name = "chlo.acos",
                       .summary = "the angle of 0 to pi whose cosine is x; NaN beyond 1",
                       .jvp = derivative([](Builder& b, Value* x, Value*, Value* dx) {
                         return mul(b, dx, neg(b, rsqrt(b, one_minus_square(b, x))));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::chlo_elementwise,
                       .split = complex_rules::unary<complex_rules::acos>}),
      STRATA_FUNCTION(kInexact, asin,
                      {.name = "chlo.asin",
                       .summary = "the angle of -pi/2 to pi/2 whose sine is x; NaN beyond 1",
                       .jvp = derivative([](Builder& b, Value* x, Value*, Value* dx) {
                         return mul(b, dx, rsqrt(b, one_minus_square(b, x)));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::chlo_elementwise,
                       .split = complex_rules::unary<complex_rules::asin>}),
      STRATA_FUNCTION(kInexact, atan,
                      {.name = "chlo.atan",
                       .summary = "the angle of -pi/2 to pi/2 whose tangent is x",
                       .jvp = derivative([](Builder& b, Value* x, Value*, Value* dx) {
                         return div(b, dx, one_plus(b, mul(b, x, x)));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::chlo_elementwise,
                       .split = complex_rules::unary<complex_rules::atan>}),
      STRATA_FUNCTION(kInexact, tan,
                      {.name = "chlo.tan",
                       .summary = "the tangent",
                       .jvp = derivative([](Builder& b, Value*, Value* y, Value* dx) {
                         return mul(b, dx, one_plus(b, mul(b, y, y)));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::chlo_elementwise,
                       .split = complex_rules::unary<complex_rules::tan>}),
  };
  return rows;
}

}  // namespace strata::op
