// Exponentials and logarithms of complex numbers.
#include "strata/op/elementwise/complex/functions.h"

namespace strata::op::complex_rules {
namespace {

constexpr double kLog600 = 0x1.9fe3682cd3be4p+8;  // 600 log(2)
constexpr double kHigh = 0x1.9fe3682cd3be4p+9,
                 kLow = 0x1.4aa84b6b3b125p-45;  // 1200 log(2), in two parts

/// e (cos y, sin y) where e = value * power^2; real on the real line.
Complex polar(Scaled e, Real y) {
  auto scaled = [&](Real x) { return e.value * x * e.power * e.power; };
  return {scaled(cos(y)), choose(y == 0, y, scaled(sin(y)))};
}

/// log|z| for |z|^2 in [1/2, 2].
Real log_magnitude_near_one(Real more, Real less) {
  return 0.5 * log1p(square_less(more, less, more.like(1)).high);
}

Real log_magnitude(Complex z) {
  Real x = abs(z.re), y = abs(z.im), more = max(x, y), less = min(x, y);
  Real square = fma(more, more, less * less);
  Truth near = square > 0.5 && square < 2;
  Scale s = scale_of(more);
  Real shift = choose(more > kBig, kLog600, choose(more < kTiny, more.like(-kLog600), 0));
  Real scaled_more = more * s.factor, scaled_less = less * s.factor;
  Real far = 0.5 * log(fma(scaled_more, scaled_more, scaled_less * scaled_less)) + shift;
  Real out = choose(near, log_magnitude_near_one(more, less), far);
  return choose(is_infinite(x) || is_infinite(y), kInfinity, out);
}

}  // namespace

/// Beyond 709 the argument is lessened by 1200 log(2), exactly but for `kLow`, whose factor 1 -
/// kLow follows.
Scaled scaled_exp(Real x) {
  if (x.single) return {exp(x), x.like(1)};
  Truth big = x > 709;
  Real e = exp(choose(big, x - kHigh, x));
  return {choose(big, e * (1 - kLow), e), choose(big, x.like(kUp), 1)};
}

Pair square_less(Real more, Real less, Real rest) {
  Pair a = two_product(more, more), b = two_product(less, less);
  Pair s = two_sum(a.high, -rest), t = two_sum(s.high, b.high);
  return two_sum(s.low, t.low) + t.high + two_sum(a.low, b.low);
}

Complex exponential(Complex z) { return polar(scaled_exp(z.re), z.im); }

namespace {

/// e^x cos y - 1, which passes through zero: expm1(x) cos y - 2 sin^2(y/2), in pairs of f64 (e^x -
/// 1) cos y + (cos y - 1).
Real below_one(Real x, Real y) {
  if (x.single) {
    Real half = sin(0.5 * y);
    return sum_of_products(expm1(x), cos(y), -2 * half, half);
  }
  auto [sine, cosine, less_one] = sine_cosine(y);
  return (exp_pair(choose(x < -60, -60, choose(x > 60, 60, x))).less_one * cosine + less_one).high;
}

}  // namespace

Complex exponential_minus_one(Complex z) {
  Scaled e = scaled_exp(z.re);
  Complex far = polar(e, z.im);
  Real near = below_one(z.re, z.im);
  Real re = choose(z.re < 40, choose(z.im == 0, expm1(z.re), near), far.re);
  Truth vanishes = z.re == -kInfinity;
  return choose(vanishes, {z.re.like(-1), copysign(z.im.like(0), z.im)}, {re, far.im});
}

Complex log(Complex z) { return {log_magnitude(z), atan2(z.im, z.re)}; }

/// |1 + z|^2 - 1 = x^2 + 2 x + y^2, in twice f64's digits, while it is in [-1/2, 1].
Complex log_plus_one(Complex z) {
  Real x = z.re, y = z.im;
  Pair a = two_product(x, x), b = two_product(y, y);
  Pair s = two_sum(x + x, a.high), t = two_sum(s.high, b.high);
  Real square = t.high + (t.low + s.low + a.low + b.low);
  Complex moved{1 + x, y};
  Real re = choose(square > -0.5 && square < 1, 0.5 * log1p(square), log_magnitude(moved));
  return {choose(y == 0 && abs(x) < 0.5, log1p(x), re), atan2(y, moved.re)};
}

namespace {

/// With v = e^-|x| (cos y - i sin y): conj(1 + v) / |1 + v|^2, and left of zero v conj(1 + v) / |1
/// + v|^2, whose real part is e^-|x| (cos y + e^-|x|) / |1 + v|^2. Beyond 40 the square is 1.
Complex logistic_in_pairs(Complex z) {
  Real x = abs(z.re), y = choose(z.re < 0, -z.im, z.im);
  Pair e = exp_pair(-choose(x > 60, 60, x)).value;
  auto [sine, cosine, less_one] = sine_cosine(y);
  Pair p = e * cosine + x.like(1), q = e * sine;
  Real square = (p * p + q * q).high, across = choose(y == 0, y, q.high) / square;
  Complex right{p.high / square, across}, left{(e * (cosine + e)).high / square, -across};
  Real small = exp(-x), s = choose(is_finite(y), small * sin(y), copysign(y.like(0), y));
  Truth flat = x > 40;
  right = choose(flat, {x.like(1), s}, right);
  left = choose(flat, {choose(is_finite(y), small * (cosine.high + small), 0), -s}, left);
  return choose(z.re < 0, left, right);
}

}  // namespace

/// 1 / (1 + w) with w = e^-z: (1 + conj w) / |1 + w|^2, where 1 + Re w = -expm1(-x) + 2 e^-x
/// cos^2(y/2) and |1 + w|^2 = expm1(-x)^2 + 4 e^-x cos^2(y/2). Left of zero it is e^z logistic(-z),
/// whose real part has a factor e^x + cos y.
Complex logistic(Complex z) {
  if (!z.re.single) return logistic_in_pairs(z);
  Real x = abs(z.re), y = choose(z.re < 0, -z.im, z.im);
  Real e = exp(-x), m = -expm1(-x), half = cos(0.5 * y);
  Real bump = 2 * e * half * half;
  Real square = fma(m, m, bump + bump);
  Complex right{(m + bump) / square, e * sin(y) / square};
  Real factor = choose(e < 0.5, e * (e + cos(y)), bump - e * m);
  Complex left{factor / square, -(e * sin(y)) / square};
  Truth flat = x > 750;
  right =
      choose(flat, {x.like(1), choose(is_finite(y), e * sin(y), copysign(y.like(0), y))}, right);
  left = choose(flat,
                {choose(is_finite(y), e * cos(y), 0),
                 choose(is_finite(y), -(e * sin(y)), copysign(y.like(0), -y))},
                left);
  return choose(z.re < 0, left, right);
}

}  // namespace strata::op::complex_rules
