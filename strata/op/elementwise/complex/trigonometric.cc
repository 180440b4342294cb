// Circular and hyperbolic functions of complex numbers.
#include "strata/op/elementwise/complex/functions.h"

namespace strata::op::complex_rules {
namespace {

/// cosh x and sinh x, each times power^2.
struct Hyperbolic {
  Real cosh, sinh, power;
};

/// x + x^3/3! + .. + x^19/19! for |x| < 1.
Real sinh_series(Real x) {
  constexpr double inverse[] = {
      0x1.5555555555555p-3,  0x1.1111111111111p-7,  0x1.a01a01a01a01ap-13,
      0x1.71de3a556c734p-19, 0x1.ae64567f544e4p-26, 0x1.6124613a86d09p-33,
      0x1.ae7f3e733b81fp-41, 0x1.952c77030ad4ap-49, 0x1.2f49b46814157p-57};
  Real square = x * x, sum = x.like(inverse[8]);
  for (int i = 7; i >= 0; --i) sum = fma(sum, square, x.like(inverse[i]));
  return fma(x * square, sum, x);
}

Hyperbolic hyperbolic(Real x) {
  Real size = abs(x);
  Scaled e = scaled_exp(size);
  Real half = 0.5 * e.value;
  Real inverse = choose(size < 40, 0.25 / half, 0);
  return {half + inverse, choose(size < 1, sinh_series(x), copysign(half - inverse, x)), e.power};
}

Complex tanh_in_f64(Real x, Real sine, Real cosine) {
  Hyperbolic h = hyperbolic(x);
  Real square = fma(h.sinh, h.sinh, cosine * cosine);
  return {h.sinh * h.cosh / square, sine * cosine / square};
}

/// For |x| < 22: sinh x = (d + d / (1 + d)) / 2 with d = e^x - 1, and cosh x = e^x - sinh x.
Complex tanh_in_pairs(Real x, Real y) {
  PairExponential e = exp_pair(x);
  Pair sinh = (e.less_one + e.less_one / e.value) * x.like(0.5), cosh = e.value - sinh;
  auto [sine, cosine, less_one] = sine_cosine(y);
  Pair square = sinh * sinh + cosine * cosine;
  return {(sinh * cosh / square).high, (sine * cosine / square).high};
}

Real scaled(Real x, Real y, Real power) { return x * y * power * power; }
/// x where it is a zero, else y: a zero times an infinity is the zero here.
Real or_zero(Real x, Real y) { return choose(x == 0, x, y); }
/// i z and -i z.
Complex turned(Complex z) { return {-z.im, z.re}; }
Complex turned_back(Complex z) { return {z.im, -z.re}; }

}  // namespace

/// sinh x cos y + i cosh x sin y.
Complex sinh(Complex z) {
  Hyperbolic h = hyperbolic(z.re);
  Real c = cos(z.im),
       re = choose(z.re == 0, choose(c < 0, -z.re, z.re), scaled(h.sinh, c, h.power)),
       im = or_zero(z.im, scaled(h.cosh, sin(z.im), h.power));
  Truth lost = is_infinite(z.re) && !is_finite(z.im);
  return choose(lost, {z.re, z.re.like(kNaN)}, {re, im});
}

/// cosh x cos y + i sinh x sin y.
Complex cosh(Complex z) {
  Hyperbolic h = hyperbolic(z.re);
  Real re = scaled(h.cosh, cos(z.im), h.power), im = scaled(h.sinh, sin(z.im), h.power);
  Truth real_line = z.re == 0 || z.im == 0;
  im = choose(real_line && !is_nan(z.re) && !is_nan(z.im),
              copysign(z.re.like(0), z.re) * copysign(z.re.like(1), z.im), im);
  im = choose(z.im == 0 && is_nan(z.re), z.im, im);
  im = choose(z.re == 0 && !is_finite(z.im), z.re, im);
  Truth lost = is_infinite(z.re) && !is_finite(z.im);
  return choose(lost, {abs(z.re), z.re.like(kNaN)}, {re, im});
}

/// (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y); far out the imaginary part is 4 sin y
/// cos y e^(-2|x|).
Complex tanh(Complex z) {
  Real size = abs(z.re), c = cos(z.im), s = sin(z.im), held = choose(size < 22, z.re, 0);
  Complex near = z.re.single ? tanh_in_f64(held, s, c) : tanh_in_pairs(held, z.im);
  near.im = or_zero(z.im, near.im);
  Real e = exp(-size);
  Complex far{copysign(z.re.like(1), z.re),
              choose(is_finite(z.im), 4 * (s * e) * (c * e), copysign(z.im.like(0), z.im))};
  far.im = or_zero(z.im, far.im);
  Complex out = choose(size >= 22, far, near);
  out.re = choose(is_nan(z.re) || z.re == 0, z.re, out.re);
  out.im = choose(is_nan(z.re) && !(z.im == 0), z.re, out.im);
  return out;
}

Complex sine(Complex z) { return turned_back(sinh(turned(z))); }
Complex cosine(Complex z) { return cosh(turned(z)); }
Complex tan(Complex z) { return turned_back(tanh(turned(z))); }

}  // namespace strata::op::complex_rules
