// Elementary functions. Their algorithms are loop/math's; here are names and derivatives.
#include "strata/op/elementwise/complex/functions.h"
#include "strata/op/elementwise/elementwise.h"

namespace strata::op {
namespace {

namespace math = loop::math;
using loop::Inst;
using Code = loop::Builder;

Value* one_minus(Builder& b, Value* x) { return sub(b, full_like(b, x, 1), x); }
Value* one_plus(Builder& b, Value* x) { return add(b, full_like(b, x, 1), x); }
Value* scaled(Builder& b, Value* x, double factor) { return mul(b, x, full_like(b, x, factor)); }

/// 2 / sqrt(pi) e^(-x^2).
Value* erf_slope(Builder& b, Value* x) {
  return scaled(b, exp(b, neg(b, mul(b, x, x))), 1.1283791670955126);
}

/// The derivatives of the angle of (x, y) are x and -y over this.
Value* squared_radius(Builder& b, Value* y, Value* x) { return add(b, mul(b, x, x), mul(b, y, y)); }

}  // namespace

// One row of a function that has the same name in loop/math.
#define STRATA_FUNCTION(kinds, function, ...)                \
  unary<kinds>(                                              \
      __VA_ARGS__, [](auto x) { return math::function(x); }, \
      [](Code& b, Inst* x) { return math::function(b, x); })

std::span<const OpDef> function_defs() {
  static const OpDef rows[] = {
      binary<kInexact>(
          {.name = "stablehlo.atan2",
           .summary = "the angle of the point (operand 1, operand 0) (spec: atan2)",
           .jvp =
               derivative([](Builder& b, Value* y, Value* x, Value*,
                             Value* dy) { return mul(b, dy, div(b, x, squared_radius(b, y, x))); },
                          [](Builder& b, Value* y, Value* x, Value*, Value* dx) {
                            return mul(b, dx, neg(b, div(b, y, squared_radius(b, y, x))));
                          }),
           .transpose = kNotLinear,
           .flops = 30,
           .split = complex_rules::binary<complex_rules::atan2>},
          [](auto y, auto x) { return math::atan2(y, x); },
          [](Code& b, Inst* y, Inst* x) { return math::atan2(b, y, x); }),
      STRATA_FUNCTION(kInexact, cbrt,
                      {.name = "stablehlo.cbrt",
                       .summary = "the cube root (spec: cbrt)",
                       .jvp = derivative([](Builder& b, Value*, Value* y, Value* dx) {
                         return div(b, dx, scaled(b, mul(b, y, y), 3));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::result_accuracy,
                       .split = complex_rules::unary<complex_rules::cbrt>}),
      STRATA_FUNCTION(kInexact, cos,
                      {.name = "stablehlo.cosine",
                       .summary = "the cosine (spec: cosine)",
                       .jvp = derivative([](Builder& b, Value* x, Value*, Value* dx) {
                         return mul(b, dx, neg(b, sin(b, x)));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::result_accuracy,
                       .split = complex_rules::unary<complex_rules::cosine>}),
      STRATA_FUNCTION(kFloat, erf,
                      {.name = "chlo.erf",
                       .summary = "the error function",
                       .jvp = derivative([](Builder& b, Value* x, Value*, Value* dx) {
                         return mul(b, dx, erf_slope(b, x));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::chlo_elementwise}),
      STRATA_FUNCTION(
          kInexact, exp,
          {.name = "stablehlo.exponential",
           .summary = "e to the power of x (spec: exponential)",
           .jvp = derivative([](Builder& b, Value*, Value* y, Value* dx) { return mul(b, dx, y); }),
           .transpose = kNotLinear,
           .flops = 12,
           .text = &ir::formats::result_accuracy,
           .split = complex_rules::unary<complex_rules::exponential>}),
      STRATA_FUNCTION(kInexact, expm1,
                      {.name = "stablehlo.exponential_minus_one",
                       .summary = "e^x - 1, accurate near 0 (spec: exponential_minus_one)",
                       .jvp = derivative([](Builder& b, Value* x, Value*, Value* dx) {
                         return mul(b, dx, exp(b, x));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::result_accuracy,
                       .split = complex_rules::unary<complex_rules::exponential_minus_one>}),
      STRATA_FUNCTION(
          kInexact, log,
          {.name = "stablehlo.log",
           .summary = "the natural logarithm (spec: log)",
           .jvp = derivative([](Builder& b, Value* x, Value*, Value* dx) { return div(b, dx, x); }),
           .transpose = kNotLinear,
           .flops = 12,
           .text = &ir::formats::result_accuracy,
           .split = complex_rules::unary<complex_rules::log>}),
      STRATA_FUNCTION(kInexact, log1p,
                      {.name = "stablehlo.log_plus_one",
                       .summary = "log(1 + x), accurate near 0 (spec: log_plus_one)",
                       .jvp = derivative([](Builder& b, Value* x, Value*, Value* dx) {
                         return div(b, dx, one_plus(b, x));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::result_accuracy,
                       .split = complex_rules::unary<complex_rules::log_plus_one>}),
      STRATA_FUNCTION(kInexact, logistic,
                      {.name = "stablehlo.logistic",
                       .summary = "1 / (1 + e^-x) (spec: logistic)",
                       .jvp = derivative([](Builder& b, Value*, Value* y, Value* dx) {
                         return mul(b, dx, mul(b, y, one_minus(b, y)));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::result_accuracy,
                       .split = complex_rules::unary<complex_rules::logistic>}),
      STRATA_FUNCTION(kInexact, rsqrt,
                      {.name = "stablehlo.rsqrt",
                       .summary = "1 / sqrt(x) (spec: rsqrt)",
                       .jvp = derivative([](Builder& b, Value* x, Value* y, Value* dx) {
                         return mul(b, dx, scaled(b, div(b, y, x), -0.5));
                       }),
                       .transpose = kNotLinear,
                       .flops = 12,
                       .text = &ir::formats::result_accuracy,
                       .split = complex_rules::unary<complex_rules::rsqrt>}),
      STRATA_FUNCTION(kInexact, sin,
                      {.name = "stablehlo.sine",
                       .summary = "the sine (spec: sine)",
                       .jvp = derivative([](Builder& b, Value* x, Value*, Value* dx) {
                         return mul(b, dx, cos(b, x));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::result_accuracy,
                       .split = complex_rules::unary<complex_rules::sine>}),
      STRATA_FUNCTION(kInexact, sqrt,
                      {.name = "stablehlo.sqrt",
                       .summary = "the square root (spec: sqrt)",
                       .jvp = derivative([](Builder& b, Value*, Value* y, Value* dx) {
                         return div(b, scaled(b, dx, 0.5), y);
                       }),
                       .transpose = kNotLinear,
                       .flops = 4,
                       .text = &ir::formats::result_accuracy,
                       .split = complex_rules::unary<complex_rules::sqrt>}),
      STRATA_FUNCTION(kInexact, tan,
                      {.name = "stablehlo.tan",
                       .summary = "the tangent (spec: tan)",
                       .jvp = derivative([](Builder& b, Value*, Value* y, Value* dx) {
                         return mul(b, dx, one_plus(b, mul(b, y, y)));
                       }),
                       .transpose = kNotLinear,
                       .flops = 30,
                       .text = &ir::formats::result_accuracy,
                       .split = complex_rules::unary<complex_rules::tan>}),
      STRATA_FUNCTION(kInexact, tanh,
                      {.name = "stablehlo.tanh",
                       .summary = "the hyperbolic tangent (spec: tanh)",
                       // (1 + y)(1 - y) keeps the slope's relative accuracy where y is near 1.
                       .jvp = derivative([](Builder& b, Value*, Value* y, Value* dx) {
                         return mul(b, dx, mul(b, one_plus(b, y), one_minus(b, y)));
                       }),
                       .transpose = kNotLinear,
                       .flops = 12,
                       .text = &ir::formats::result_accuracy,
                       .split = complex_rules::unary<complex_rules::tanh>}),
  };
  return rows;
}

#undef STRATA_FUNCTION

}  // namespace strata::op
