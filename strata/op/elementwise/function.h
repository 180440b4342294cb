// Functions that append one operation, as in build.h, for the functions beyond those there; and
// what the rows of functions share.
#pragma once

#include "strata/op/elementwise/elementwise.h"

namespace strata::op {

Value* acos(Builder& b, Value* x);
Value* acosh(Builder& b, Value* x);
Value* asin(Builder& b, Value* x);
Value* asinh(Builder& b, Value* x);
Value* atan(Builder& b, Value* x);
Value* atanh(Builder& b, Value* x);
Value* bessel_i0e(Builder& b, Value* x);
Value* bessel_i1e(Builder& b, Value* x);
Value* cosh(Builder& b, Value* x);
Value* digamma(Builder& b, Value* x);
Value* erf_inv(Builder& b, Value* x);
Value* erfc(Builder& b, Value* x);
Value* lgamma(Builder& b, Value* x);
Value* sinh(Builder& b, Value* x);
/// The derivative of order n of digamma, of order n + 1 of lgamma; n = 0, 1, 2 ... as floats.
Value* polygamma(Builder& b, Value* n, Value* x);
/// Hurwitz's zeta function: the sum of (q + i)^-s for i = 0, 1, 2 ...
Value* zeta(Builder& b, Value* s, Value* q);
/// The neighbour of x in the direction of y; y itself when they are equal.
Value* next_after(Builder& b, Value* x, Value* y);

// One row of a function that has the same name in loop/math.
#define STRATA_FUNCTION(kinds, function, ...)                      \
  unary<kinds>(                                                    \
      __VA_ARGS__, [](auto x) { return loop::math::function(x); }, \
      [](loop::Builder& b, loop::Inst* x) { return loop::math::function(b, x); })

inline Value* one_minus(Builder& b, Value* x) { return sub(b, full_like(b, x, 1), x); }
inline Value* one_plus(Builder& b, Value* x) { return add(b, full_like(b, x, 1), x); }
inline Value* scaled(Builder& b, Value* x, double factor) {
  return mul(b, x, full_like(b, x, factor));
}
/// 1 - x^2, accurate near 1.
inline Value* one_minus_square(Builder& b, Value* x) {
  return mul(b, one_minus(b, x), one_plus(b, x));
}

}  // namespace strata::op
