// Roots of complex numbers.
#include "strata/op/elementwise/complex/functions.h"

namespace strata::op::complex_rules {
namespace {

/// sqrt((|x| + |z|) / 2) of z scaled by an even power of two, and the root of what brings it back.
struct Half {
  Real value, size, back;  // size: |z|, scaled
};
Half half_root(Complex z) {
  Real most = max(abs(z.re), abs(z.im));
  Truth big = most > kBig, tiny = most < kTiny;
  Real factor = choose(big, kDown, choose(tiny, most.like(kUp), 1)),
       back = choose(big, 0x1p300, choose(tiny, most.like(0x1p-300), 1));
  Complex scaled = z.re.single ? z : Complex{z.re * factor, z.im * factor};
  Real size = close_magnitude(scaled);
  return {sqrt(0.5 * (abs(scaled.re) + size)), size, back};
}

}  // namespace

/// (t, y / 2t) right of the imaginary axis, (|y| / 2t, +-t) left of it.
Complex sqrt(Complex z) {
  Half h = half_root(z);
  Real t = h.value * h.back, other = abs(z.im) / (t + t);
  other = choose(z.re == 0 && z.im == 0, 0, other);
  Complex out = choose(z.re >= 0, {t, copysign(other, z.im)}, {other, copysign(t, z.im)});
  Real infinity = z.re.like(kInfinity);
  out = choose(z.re == kInfinity,
               {infinity, choose(is_nan(z.im), z.im, copysign(z.im.like(0), z.im))}, out);
  out = choose(z.re == -kInfinity, {choose(is_nan(z.im), z.im, 0), copysign(infinity, z.im)}, out);
  out = choose(is_infinite(z.im), {infinity, z.im}, out);
  return choose(is_nan(z.re) && !is_infinite(z.im), {z.re, z.re}, out);
}

/// conj(sqrt(z)) / |z|.
Complex rsqrt(Complex z) {
  Half h = half_root(z);
  Real t = h.value * h.back, long_side = h.value / h.size / h.back,
       short_side = abs(z.im) / (t + t) / h.back / h.size / h.back;
  Complex out = choose(z.re >= 0, {long_side, -copysign(short_side, z.im)},
                       {short_side, -copysign(long_side, z.im)});
  out = choose(z.re == 0 && z.im == 0, {z.re.like(kInfinity), z.re.like(kNaN)}, out);
  return choose(is_infinite(z.re) || is_infinite(z.im),
                {z.re.like(0), copysign(z.im.like(0), -z.im)}, out);
}

/// |z|^(1/3) at a third of the angle, made better by w + (z - w^3) / (3 w^2), the cube in pairs of
/// f64.
Complex cbrt(Complex z) {
  Scale s = z.re.single ? Scale{z.re.like(1), z.re.like(1)} : scale_of(max(abs(z.re), abs(z.im)));
  Real back = choose(s.factor == kUp, 0x1p-200, choose(s.factor == kDown, z.re.like(0x1p200), 1));
  Complex v{z.re * s.factor, z.im * s.factor};
  Real r = cbrt(magnitude(v)), angle = atan2(v.im, v.re) / 3;
  Complex w{r * cos(angle), r * sin(angle)};
  Real zero = r.like(0), three = r.like(3);
  Pair xx = two_product(w.re, w.re), yy = two_product(w.im, w.im);
  Complex rest{(Pair{v.re, zero} - (xx - yy * three) * w.re).high,
               (Pair{v.im, zero} - (xx * three - yy) * w.im).high};
  Real slope_re = 3 * (xx.high - yy.high), slope_im = 6 * w.re * w.im,
       square = fma(slope_re, slope_re, slope_im * slope_im);
  Complex better{w.re + fma(rest.re, slope_re, rest.im * slope_im) / square,
                 w.im + fma(rest.im, slope_re, -(rest.re * slope_im)) / square};
  Complex out = choose(is_finite(better.re) && is_finite(better.im), better, w);
  return {out.re * back, choose(w.im == 0, w.im, out.im) * back};
}

}  // namespace strata::op::complex_rules
