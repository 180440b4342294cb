// Arithmetic of complex numbers.
#include "strata/op/elementwise/complex/functions.h"

namespace strata::op::complex_rules {

Complex multiply(Complex z, Complex w) {
  return {sum_of_products(z.re, w.re, -z.im, w.im), sum_of_products(z.re, w.im, z.im, w.re)};
}

Complex square(Complex z) {
  Real re = choose(abs(z.re) == abs(z.im) && is_finite(z.re), 0, (z.re - z.im) * (z.re + z.im));
  Real product = z.re * z.im;
  return {re, product + product};
}

Scale scale_of(Real x) {
  Truth big = x > kBig, tiny = x < kTiny;
  return {choose(big, kDown, choose(tiny, x.like(kUp), 1)),
          choose(big, kUp, choose(tiny, x.like(kDown), 1))};
}

Real magnitude(Complex z) {
  Real x = abs(z.re), y = abs(z.im);
  Truth infinite = is_infinite(x) || is_infinite(y);
  if (z.re.single && z.im.single) return choose(infinite, kInfinity, sqrt(x * x + y * y));
  Real more = max(x, y), less = min(x, y);
  Scale s = scale_of(more);
  more = more * s.factor;
  less = less * s.factor;
  return choose(infinite, kInfinity, sqrt(fma(more, more, less * less)) * s.back);
}

/// The root of the sum of squares, and what its
/// square lacks of that sum, in pairs of f64.
Real close_magnitude(Complex z) {
  if (z.re.single) return magnitude(z);
  Pair sum = two_product(z.re, z.re) + two_product(z.im, z.im);
  Real root = sqrt(sum.high), rest = fma(-root, root, sum.high) + sum.low;
  return choose(root > 0 && root < kInfinity, root + rest / (root + root), root);
}

/// Subnormal numbers are scaled up, so that the quotient keeps its digits; infinities leave NaN.
Complex sign(Complex z) {
  Scale s = scale_of(max(abs(z.re), abs(z.im)));
  Complex scaled = z.re.single ? z : Complex{z.re * s.factor, z.im * s.factor};
  Real r = magnitude(scaled);
  return choose(r == 0, z, {scaled.re / r, scaled.im / r});
}

namespace {

/// 1 for an infinity, 0 for other numbers, with the sign: what remains of a number beside one that
/// is infinitely larger.
Real infinite_part(Real x) { return copysign(choose(is_infinite(x), x.like(1), 0), x); }

/// A factor beside an infinite one, whose own infinities are 1 and others 0.
Complex boxed(Complex z, Truth infinite) {
  return choose(infinite, {infinite_part(z.re), infinite_part(z.im)}, z);
}
Real number_or_zero(Real x) { return choose(is_nan(x), copysign(x.like(0), x), x); }

/// C99's Annex G, G.5.1: quotients with zeros and infinities that come out as NaN.
Complex recovered(Complex z, Complex w, Complex quotient) {
  Truth lost = is_nan(quotient.re) && is_nan(quotient.im);
  Truth by_zero = w.re == 0 && w.im == 0 && !(is_nan(z.re) && is_nan(z.im));
  Real pole = copysign(w.re.like(kInfinity), w.re);
  Truth z_infinite = is_infinite(z.re) || is_infinite(z.im),
        w_infinite = is_infinite(w.re) || is_infinite(w.im);
  Truth z_finite = is_finite(z.re) && is_finite(z.im),
        w_finite = is_finite(w.re) && is_finite(w.im);
  Complex top{infinite_part(z.re), infinite_part(z.im)},
      bottom{infinite_part(w.re), infinite_part(w.im)};
  Complex huge{kInfinity * (top.re * w.re + top.im * w.im),
               kInfinity * (top.im * w.re - top.re * w.im)};
  Complex none{0 * (z.re * bottom.re + z.im * bottom.im),
               0 * (z.im * bottom.re - z.re * bottom.im)};
  Complex out = choose(z_finite && w_infinite, none, quotient);
  out = choose(z_infinite && w_finite, huge, out);
  out = choose(by_zero, {pole * z.re, pole * z.im}, out);
  return choose(lost, out, quotient);
}

Complex plain_quotient(Complex z, Complex w, Real square) {
  return {sum_of_products(z.re, w.re, z.im, w.im) / square,
          sum_of_products(z.im, w.re, -z.re, w.im) / square};
}

}  // namespace

Complex recovered_product(Complex z, Complex w) {
  Complex product = multiply(z, w);
  Truth z_infinite = is_infinite(z.re) || is_infinite(z.im),
        w_infinite = is_infinite(w.re) || is_infinite(w.im);
  Complex a = boxed(z, z_infinite), b = boxed(w, w_infinite);
  a = choose(w_infinite, {number_or_zero(a.re), number_or_zero(a.im)}, a);
  b = choose(z_infinite, {number_or_zero(b.re), number_or_zero(b.im)}, b);
  Complex huge{kInfinity * (a.re * b.re - a.im * b.im), kInfinity * (a.re * b.im + a.im * b.re)};
  Truth lost = is_nan(product.re) && is_nan(product.im);
  return choose(lost && (z_infinite || w_infinite), huge, product);
}

/// z conj(w) / |w|^2, both scaled by powers of two. The powers come back in two steps, so that
/// neither overflows alone.
Complex divide(Complex z, Complex w) {
  if (z.re.single && w.re.single)
    return recovered(z, w, plain_quotient(z, w, w.re * w.re + w.im * w.im));
  Real z_size = max(abs(z.re), abs(z.im)), w_size = max(abs(w.re), abs(w.im));
  Scale s = scale_of(z_size), t = scale_of(w_size);
  Complex q =
      plain_quotient({z.re * s.factor, z.im * s.factor}, {w.re * t.factor, w.im * t.factor},
                     fma(w.re * t.factor, w.re * t.factor, (w.im * t.factor) * (w.im * t.factor)));
  Real product = s.back * t.factor;  // 1, 2^600 or 2^-600; infinite or 0 when it takes two steps
  Truth up = product == kInfinity, down = product == 0;
  Real first = choose(up, kUp, choose(down, kDown, product)),
       second = choose(up, kUp, choose(down, product.like(kDown), 1));
  return recovered(z, w, {q.re * first * second, q.im * first * second});
}

Truth less(Complex z, Complex w) { return z.re < w.re || (z.re == w.re && z.im < w.im); }
Truth less_or_equal(Complex z, Complex w) { return z.re < w.re || (z.re == w.re && z.im <= w.im); }

namespace {

Complex chosen(Truth first, Complex z, Complex w) {
  Complex best = choose(first, z, w);
  Truth z_nan = is_nan(z.re) || is_nan(z.im), w_nan = is_nan(w.re) || is_nan(w.im);
  return choose(z_nan, z, choose(w_nan, w, best));
}

}  // namespace

Complex maximum(Complex z, Complex w) { return chosen(less_or_equal(w, z), z, w); }
Complex minimum(Complex z, Complex w) { return chosen(less_or_equal(z, w), z, w); }

}  // namespace strata::op::complex_rules
