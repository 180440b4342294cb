// Formulas over real arrays, written as formulas: each operator appends an operation.
//
//   Real y = sqrt(x * x + 1);
//   Real z = choose(x < 0, -y, y);
//
// Functions of complex numbers are said in these (op/complex/*.cc), in f64: the parts of
// complex<f32> are widened before and rounded after, so that one algorithm serves both types and
// f32 results are all but correctly rounded.
#pragma once

#include "strata/loop/math/pair.h"
#include "strata/op/def.h"

namespace strata::op::complex_rules {

/// An array of truth values.
struct Truth {
  Builder* b;
  Value* v;
};
Truth operator&&(Truth x, Truth y);
Truth operator||(Truth x, Truth y);
Truth operator!(Truth x);

/// An array of real numbers. `single`: each is an f32, so its square is exact and neither overflows
/// nor vanishes.
struct Real {
  Builder* b;
  Value* v;
  bool single = false;
  /// The number everywhere.
  Real like(double value) const;
};
Real operator+(Real x, Real y);
Real operator-(Real x, Real y);
Real operator*(Real x, Real y);
Real operator/(Real x, Real y);
Real operator-(Real x);
Truth operator<(Real x, Real y);
Truth operator<=(Real x, Real y);
Truth operator==(Real x, Real y);
inline Truth operator>(Real x, Real y) { return y < x; }
inline Truth operator>=(Real x, Real y) { return y <= x; }

#define STRATA_WITH_NUMBER(result, op)                                   \
  inline result operator op(Real x, double y) { return x op x.like(y); } \
  inline result operator op(double x, Real y) { return y.like(x) op y; }
STRATA_WITH_NUMBER(Real, +)
STRATA_WITH_NUMBER(Real, -)
STRATA_WITH_NUMBER(Real, *)
STRATA_WITH_NUMBER(Real, /)
STRATA_WITH_NUMBER(Truth, <)
STRATA_WITH_NUMBER(Truth, <=)
STRATA_WITH_NUMBER(Truth, >)
STRATA_WITH_NUMBER(Truth, >=)
STRATA_WITH_NUMBER(Truth, ==)
#undef STRATA_WITH_NUMBER

/// condition ? x : y.
Real choose(Truth condition, Real x, Real y);
inline Real choose(Truth condition, Real x, double y) { return choose(condition, x, x.like(y)); }
inline Real choose(Truth condition, double x, Real y) { return choose(condition, y.like(x), y); }

/// x * y + z, rounded once.
Real fma(Real x, Real y, Real z);
Real abs(Real x);
Real sqrt(Real x);
Real exp(Real x);
Real expm1(Real x);
Real log(Real x);
Real log1p(Real x);
Real sin(Real x);
Real cos(Real x);
Real cbrt(Real x);
Real atan2(Real y, Real x);
Real max(Real x, Real y);
Real min(Real x, Real y);
/// The magnitude of x with the sign of y, of zeros and infinities too.
Real copysign(Real x, Real y);
Truth is_finite(Real x);
Truth is_nan(Real x);
Truth is_infinite(Real x);

/// What pair.h asks of a number type.
inline Real like(Real x, double value) { return x.like(value); }
/// A number as the sum of two, the first being it rounded (loop/math/pair.h).
using Pair = loop::math::PairOf<Real>;
using loop::math::two_product;
using loop::math::two_sum;
Pair either(Truth condition, Pair x, Pair y);
/// Of a positive number in the middle of f64's range: e and 2^-e where 2^e <= x < 2^(e + 1).
struct Binade {
  Real exponent, down;
};
Binade binade(Real x);
/// The nearest whole number; 2^k for a whole k, |k| <= 1022.
Real nearest(Real x);
Real two_to(Real k);
/// x y + z w, within 1.5 ulp also where the terms cancel; infinities as in plain arithmetic.
Real sum_of_products(Real x, Real y, Real z, Real w);

/// An array of complex numbers.
struct Complex {
  Real re, im;
};
Complex choose(Truth condition, Complex x, Complex y);

/// Split rules (op/def.h) from functions of Complex; on other types they leave the default.
Complex widened(Builder& b, const Op& op, int operand, std::span<const Parts> operands);
Parts narrowed(Complex z, DType dtype);
Parts narrowed(Real x, DType dtype);

/// The same operation on the real and on the imaginary parts.
std::vector<Parts> part_by_part(Builder& b, const Op& op, std::span<const Parts> operands);

template <Complex (*f)(Complex)>
std::vector<Parts> unary(Builder& b, const Op& op, std::span<const Parts> operands) {
  if (!is_complex(op.operand(0)->dtype())) return {};
  return {narrowed(f(widened(b, op, 0, operands)), op.result()->dtype())};
}
template <Complex (*f)(Complex, Complex)>
std::vector<Parts> binary(Builder& b, const Op& op, std::span<const Parts> operands) {
  if (!is_complex(op.operand(0)->dtype())) return {};
  return {
      narrowed(f(widened(b, op, 0, operands), widened(b, op, 1, operands)), op.result()->dtype())};
}

}  // namespace strata::op::complex_rules
