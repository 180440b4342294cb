#include "strata/op/elementwise/complex/expression.h"

#include <limits>

#include "strata/op/build.h"
#include "strata/op/elementwise/fma.h"

namespace strata::op::complex_rules {

Truth operator&&(Truth x, Truth y) { return {x.b, and_(*x.b, x.v, y.v)}; }
Truth operator||(Truth x, Truth y) { return {x.b, or_(*x.b, x.v, y.v)}; }
Truth operator!(Truth x) { return {x.b, not_(*x.b, x.v)}; }

Real Real::like(double value) const { return {b, full_like(*b, v, value)}; }
Real operator+(Real x, Real y) { return {x.b, add(*x.b, x.v, y.v)}; }
Real operator-(Real x, Real y) { return {x.b, sub(*x.b, x.v, y.v)}; }
Real operator*(Real x, Real y) { return {x.b, mul(*x.b, x.v, y.v)}; }
Real operator/(Real x, Real y) { return {x.b, div(*x.b, x.v, y.v)}; }
Real operator-(Real x) { return {x.b, neg(*x.b, x.v), x.single}; }
Truth operator<(Real x, Real y) { return {x.b, compare(*x.b, x.v, y.v, "LT")}; }
Truth operator<=(Real x, Real y) { return {x.b, compare(*x.b, x.v, y.v, "LE")}; }
Truth operator==(Real x, Real y) { return {x.b, compare(*x.b, x.v, y.v, "EQ")}; }

Real choose(Truth condition, Real x, Real y) {
  return {x.b, select(*x.b, condition.v, x.v, y.v), x.single && y.single};
}

Real fma(Real x, Real y, Real z) { return {x.b, op::fma(*x.b, x.v, y.v, z.v)}; }
Real abs(Real x) { return {x.b, op::abs(*x.b, x.v), x.single}; }
#define STRATA_FUNCTION(name) \
  Real name(Real x) { return {x.b, op::name(*x.b, x.v)}; }
STRATA_FUNCTION(sqrt)
STRATA_FUNCTION(exp)
STRATA_FUNCTION(expm1)
STRATA_FUNCTION(log)
STRATA_FUNCTION(log1p)
STRATA_FUNCTION(sin)
STRATA_FUNCTION(cos)
STRATA_FUNCTION(cbrt)
#undef STRATA_FUNCTION
Real atan2(Real y, Real x) { return {x.b, op::atan2(*x.b, y.v, x.v)}; }
Real max(Real x, Real y) { return {x.b, op::max(*x.b, x.v, y.v), x.single && y.single}; }
Real min(Real x, Real y) { return {x.b, op::min(*x.b, x.v, y.v), x.single && y.single}; }

Real copysign(Real x, Real y) {
  Builder& b = *x.b;
  Value* bits = bitcast_convert(b, y.v, y.v->dtype() == DType::f64 ? DType::i64 : DType::i32);
  Truth negative{x.b, op::compare(b, bits, zeros_like(b, bits), "LT")};
  Real magnitude = abs(x);
  return choose(negative, -magnitude, magnitude);
}
Truth is_finite(Real x) { return {x.b, op::is_finite(*x.b, x.v)}; }
Truth is_nan(Real x) { return {x.b, compare(*x.b, x.v, x.v, "NE")}; }
Truth is_infinite(Real x) { return abs(x) == std::numeric_limits<double>::infinity(); }

Pair either(Truth condition, Pair x, Pair y) {
  return {choose(condition, x.high, y.high), choose(condition, x.low, y.low)};
}

/// The biased exponent e is read as a number through the bits of 2^52 + e, whose unit is 1.
Binade binade(Real x) {
  Builder& b = *x.b;
  Value* bits = bitcast_convert(b, x.v, DType::i64);
  auto number = [&](double value) { return full_like(b, bits, value); };
  auto real = [&](Value* v) { return Real{&b, bitcast_convert(b, v, DType::f64)}; };
  Value* biased = shift_right_logical(b, bits, number(52));
  Real exponent = real(or_(b, biased, number(0x433p52))) - (0x1p52 + 1023);
  return {exponent, real(shift_left(b, sub(b, number(2046), biased), number(52)))};
}

Real nearest(Real x) { return {x.b, round_nearest_even(*x.b, x.v)}; }
Real two_to(Real k) {
  Builder& b = *k.b;
  Value* bits = bitcast_convert(b, (k + (0x1.8p52 + 1023)).v, DType::i64);
  return {&b, bitcast_convert(b, shift_left(b, bits, full_like(b, bits, 52)), DType::f64)};
}

/// Kahan's: the rounding error of one product is added at the end. Products of f32 numbers are
/// exact as they are.
Real sum_of_products(Real x, Real y, Real z, Real w) {
  Real second = z * w;
  if (x.single && y.single && z.single && w.single) return x * y + second;
  Real exact = fma(x, y, second) + fma(z, w, -second);
  return choose(is_finite(exact), exact, x * y + second);
}

Complex choose(Truth condition, Complex x, Complex y) {
  return {choose(condition, x.re, y.re), choose(condition, x.im, y.im)};
}

Complex widened(Builder& b, const Op& op, int operand, std::span<const Parts> operands) {
  const Parts& parts = operands[static_cast<std::size_t>(operand)];
  bool single = real_part(op.operand(operand)->dtype()) == DType::f32;
  return {{&b, convert(b, parts[0], DType::f64), single},
          {&b, convert(b, parts[1], DType::f64), single}};
}
Parts narrowed(Real x, DType dtype) { return {convert(*x.b, x.v, real_part(dtype))}; }
Parts narrowed(Complex z, DType dtype) {
  return {narrowed(z.re, dtype)[0], narrowed(z.im, dtype)[0]};
}

std::vector<Parts> part_by_part(Builder& b, const Op& op, std::span<const Parts> operands) {
  if (!is_complex(op.operand(0)->dtype())) return {};
  Parts out;
  for (std::size_t p = 0; p < 2; ++p) {
    Values mine;
    for (const Parts& parts : operands) mine.push_back(parts[p]);
    out.push_back(b.create(op.info(), std::move(mine), op.attrs).result());
  }
  return {out};
}

}  // namespace strata::op::complex_rules
