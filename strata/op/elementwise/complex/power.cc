// Powers of complex numbers: z^w = e^(w log z).
//
// The exponent may be large, and then its last bits are the result's first: log z and its product
// with w are carried in pairs of f64 (loop/math/pair.h). The parts of the result are within 3 ulp
// while |w log z| < 2^40 and |w| < 2^40; beyond, each factor of 2 costs one.
#include "strata/op/elementwise/complex/functions.h"

namespace strata::op::complex_rules {
namespace {

constexpr double kHalfPi = 0x1.921fb54442d18p+0, kHalfPiLow = 0x1.1a62633145c07p-54;
constexpr double kLn2 = 0x1.62e42fefa39efp-1, kLn2Low = 0x1.abc9e3b39803fp-56;

struct Logarithm {
  Pair re, im;
};

/// log z = (log(m) + j log 2) / 2 + i angle with |z|^2 = 2^j m and m near 1, for finite z other
/// than 0; NaN elsewhere.
Logarithm logarithm(Complex z) {
  Real x = abs(z.re), y = abs(z.im), most = max(x, y);
  Scale s = z.re.single ? Scale{x.like(1), x.like(1)} : scale_of(most);
  Binade b = binade(most * s.factor);
  Real more = most * s.factor * b.down, less = min(x, y) * s.factor * b.down;
  Real square = fma(more, more, less * less);  // 1 to 8
  auto step = [&](double bound) { return choose(square >= bound, x.like(1), 0); };
  Real j = step(0x1.6a09e667f3bcdp+0) + step(0x1.6a09e667f3bcdp+1) + step(0x1.6a09e667f3bcdp+2);
  Real rest = choose(j == 0, x.like(1), choose(j == 1, x.like(2), choose(j == 2, x.like(4), 8)));
  Pair t = square_less(more, less, rest);  // |z|^2 2^.. - 2^j
  Real back = 1 / rest;
  Pair near = log1p_pair(Pair{t.high * back, t.low * back});
  Real shift = choose(s.factor == kUp, x.like(-600), choose(s.factor == kDown, x.like(600), 0));
  Real twos = (b.exponent + shift) * 2 + j;
  Pair size = Pair{x.like(kLn2), x.like(kLn2Low)} * twos + near;

  Pair angle = loop::math::atan2_pair(less, more);
  Truth steep = y > x, left = z.re < 0;
  Real one = x.like(1);
  Pair half_pi{x.like(kHalfPi), x.like(kHalfPiLow)};
  angle = either(steep, half_pi - angle, angle);
  angle = either(left, half_pi + half_pi - angle, angle);
  Real side = copysign(one, z.im);
  return {{size.high * 0.5, size.low * 0.5}, {angle.high * side, angle.low * side}};
}

/// log z where it is not finite, too: of zeros, infinities and NaN.
Complex plain_logarithm(Complex z, Logarithm log) {
  Truth zero = z.re == 0 && z.im == 0, infinite = is_infinite(z.re) || is_infinite(z.im);
  return {choose(zero, -kInfinity, choose(infinite, z.re.like(kInfinity), log.re.high)),
          atan2(z.im, z.re)};
}

/// w log z where it is not finite. A real w times each part makes no NaN of its other part, which
/// is zero; other products recover their infinities (C99's Annex G, G.5.1).
Complex plain_exponent(Complex w, Complex log) {
  Truth real = w.im == 0 && !(w.re == 0);
  return choose(real, {w.re * log.re, w.re * log.im}, recovered_product(w, log));
}

/// e^(x + iy) of an exponent that is not finite is e^x at some unknown angle.
Complex at_unknown_angle(Complex exponent, Complex power) {
  Real zero = power.re.like(0), x = exponent.re;
  Truth lost = !is_finite(exponent.im);
  Complex out = choose(lost && x == -kInfinity, {zero, zero}, power);
  return choose(lost && x == kInfinity, {x, x.like(kNaN)}, out);
}

/// The powers 1 and 2 of what is not finite, which are z and z z: parts of them are known where an
/// angle does not tell.
Complex small_power(Complex z, Complex w, Complex otherwise) {
  Complex product{z.re * z.re - z.im * z.im, z.re * z.im + z.im * z.re};
  Truth real = z.im == 0 && is_infinite(z.re);
  product.im = choose(real, z.re.like(0), product.im);
  Truth lost = !is_finite(z.re) || !is_finite(z.im);
  Complex out = choose(lost && w.re == 1 && w.im == 0, z, otherwise);
  return choose(lost && w.re == 2 && w.im == 0, product, out);
}

}  // namespace

/// 0^0 = 1, and 0 to a power with a positive real part is 0; what is infinite or NaN gives what
/// NumPy has where that is a number. With a + a' and b + b' the parts of w
/// log z, where a' and b' are what f64 loses: e^a (cos b + (a' cos b - b' sin b), sin b + (a' sin b
/// + b' cos b)) to second order.
Complex power(Complex z, Complex w) {
  Logarithm log = logarithm(z);
  Pair re = log.re * w.re - log.im * w.im, im = log.re * w.im + log.im * w.re;
  Complex plain = plain_exponent(w, plain_logarithm(z, log));
  Truth finite = is_finite(re.high) && is_finite(im.high);
  Real zero = z.re.like(0);
  Real a = choose(finite, re.high, plain.re), a_low = choose(finite, re.low, zero);
  Real b = choose(finite, im.high, plain.im), b_low = choose(finite, im.low, zero);

  Scaled e = scaled_exp(a);
  Real c = cos(b), s = sin(b), half = 0.5 * b_low * b_low;
  Real more_c = fma(a_low, c, -(c * half) - s * b_low),
       more_s = fma(a_low, s, c * b_low - s * half);
  auto scaled = [&](Real x) { return e.value * x * e.power * e.power; };
  Complex out{scaled(c + more_c), choose(b == 0, b, scaled(s + more_s))};

  out = choose(finite, out, small_power(z, w, at_unknown_angle(plain, out)));
  Truth none = z.re == 0 && z.im == 0;
  Real nothing = choose(w.re > 0, zero, kNaN);
  out = choose(none, {nothing, nothing}, out);
  return choose(w.re == 0 && w.im == 0, {z.re.like(1), zero}, out);
}

}  // namespace strata::op::complex_rules
