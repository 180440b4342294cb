// The elementary functions: one algorithm each, usable on plain scalars and inside kernels.
//
// Every function exists three times under one name:
//   float  exp(float)                    scalars, what the reference evaluator calls
//   double exp(double)
//   Inst*  exp(Builder&, Inst*)          appended to a kernel; f32, f64 (bf16 and f16 compute in
//   f32 and round once)
// All three are instances of one template over a number type (`number.h`), made of exactly rounded
// operations in one order, so their bits agree. Nothing branches on data, so vectors of any width
// work.
//
// Accuracy, over all inputs including subnormal ones (nothing is flushed): f32 within 1 ulp of the
// true value (erf and erfc: 2), f64 within 1 ulp, the hyperbolic and special functions within 3;
// build/bin/ulp prints the measured table, docs/ulp.md keeps it. Between the poles left of 0 zeta
// and polygamma of odd s = n + 1 pass through zero: near those f64 is that close to the terms that
// cancel, not to their sum. Infinities, NaN, and the signs of zeros are as C99 Annex F says;
// `rsqrt(-0)` is -infinity as IEEE 754 says; poles without a limit are NaN (digamma at 0, -1, -2
// ...).
//
//   float y = math::tanh(0.5f);
//   Inst* z = math::tanh(builder, x);    // x of any lanes
#pragma once

#include <span>
#include <string_view>

#include "strata/loop/loop.h"

namespace strata::loop::math {

#define STRATA_UNARY_FUNCTION(name) \
  float name(float x);              \
  double name(double x);            \
  Inst* name(Builder& builder, Inst* x)
#define STRATA_BINARY_FUNCTION(name) \
  float name(float x, float y);      \
  double name(double x, double y);   \
  Inst* name(Builder& builder, Inst* x, Inst* y)

STRATA_UNARY_FUNCTION(exp);
STRATA_UNARY_FUNCTION(exp2);   // 2^x
STRATA_UNARY_FUNCTION(expm1);  // e^x - 1
STRATA_UNARY_FUNCTION(log);
STRATA_UNARY_FUNCTION(log2);
STRATA_UNARY_FUNCTION(log1p);  // log(1 + x)
STRATA_UNARY_FUNCTION(sin);
STRATA_UNARY_FUNCTION(cos);
STRATA_UNARY_FUNCTION(tan);
STRATA_UNARY_FUNCTION(tanh);
STRATA_UNARY_FUNCTION(logistic);  // 1 / (1 + e^-x)
STRATA_UNARY_FUNCTION(sqrt);
STRATA_UNARY_FUNCTION(rsqrt);  // 1 / sqrt(x)
STRATA_UNARY_FUNCTION(cbrt);
STRATA_UNARY_FUNCTION(erf);
STRATA_UNARY_FUNCTION(erfc);     // 1 - erf(x)
STRATA_UNARY_FUNCTION(erf_inv);  // the inverse of erf
STRATA_UNARY_FUNCTION(asin);
STRATA_UNARY_FUNCTION(acos);
STRATA_UNARY_FUNCTION(atan);
STRATA_UNARY_FUNCTION(sinh);
STRATA_UNARY_FUNCTION(cosh);
STRATA_UNARY_FUNCTION(asinh);
STRATA_UNARY_FUNCTION(acosh);
STRATA_UNARY_FUNCTION(atanh);
STRATA_UNARY_FUNCTION(lgamma);      // log |Gamma(x)|
STRATA_UNARY_FUNCTION(digamma);     // its derivative
STRATA_UNARY_FUNCTION(bessel_i0e);  // e^-|x| I0(x)
STRATA_UNARY_FUNCTION(bessel_i1e);  // e^-|x| I1(x)
STRATA_BINARY_FUNCTION(pow);        // C's pow: pow(1, NaN) = pow(NaN, 0) = 1
STRATA_BINARY_FUNCTION(
    atan2);  // the angle of the point (y, x); arguments in C's order: atan2(y, x)
STRATA_BINARY_FUNCTION(
    zeta);  // Hurwitz's: the sum of (q + j)^-s for j = 0, 1, 2 ...; arguments s, q
STRATA_BINARY_FUNCTION(polygamma);  // the derivative of order n of digamma at x; arguments n, x

#undef STRATA_UNARY_FUNCTION
#undef STRATA_BINARY_FUNCTION

/// A row per function, for tables, tests and measurements.
struct UnaryFunction {
  std::string_view name;
  float (*f32)(float);
  double (*f64)(double);
  Inst* (*traced)(Builder&, Inst*);
};
struct BinaryFunction {
  std::string_view name;
  float (*f32)(float, float);
  double (*f64)(double, double);
  Inst* (*traced)(Builder&, Inst*, Inst*);
};
std::span<const UnaryFunction> unary_functions();
std::span<const BinaryFunction> binary_functions();

}  // namespace strata::loop::math
