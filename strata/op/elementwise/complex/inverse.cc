// Inverses of circular and hyperbolic functions.
//
// asin and acos after T. E. Hull, T. F. Fairgrieve, P. T. P. Tang, "Implementing the complex
// arcsine and arccosine functions using exception handling" (ACM TOMS 23, 1997): with r = |z + 1|,
// s = |z - 1|, a = (r + s) / 2,
//
//   Re asin z = atan(x / sqrt((a + x)(a - x))),   |Im asin z| = log(a + sqrt(a^2 - 1)),
//
// where a - x and a - 1 are said without cancellation. The quadrants follow by the signs.
#include "strata/op/elementwise/complex/functions.h"

namespace strata::op::complex_rules {
namespace {

constexpr double kLog2 = 0x1.62e42fefa39efp-1, kHalfPi = 0x1.921fb54442d18p+0,
                 kPi = 0x1.921fb54442d18p+1, kPiLow = 0x1.1a62633145c07p-53;

/// In the first quadrant: the sine and cosine of Re asin z up to a factor, and |Im asin z|.
struct Arc {
  Real sine, cosine, height;
};

/// 2^-250 < max(x, y) < 2^500, and y not vanishing beside |x - 1|.
Arc ordinary_arc(Real x, Real y) {
  Real right = x + 1, left = x - 1;
  Real r = close_magnitude({right, y}), s = close_magnitude({left, y}), a = 0.5 * (r + s);
  Real square = y * y, outer = square / (r + right);
  Truth inside = x <= 1;
  Real gap = choose(inside, square / (s - left), s + left);         // s + (x - 1)
  Real complement = choose(inside, s - left, square / (s + left));  // s - (x - 1)
  Real below = 0.5 * (outer + complement);                          // a - x
  Real above_one = 0.5 * (outer + gap);                             // a - 1
  Real height =
      choose(a <= 1.5, log1p(above_one + sqrt(above_one * (a + 1))), log(a + sqrt(a * a - 1)));
  return {x, sqrt((a + x) * below), height};
}

Arc arc(Real x, Real y) {
  Arc out = ordinary_arc(x, y);
  // y vanishes beside the distance from the branch point: the real line.
  Real left = x - 1, right = x + 1, product = abs(left) * right, root = sqrt(product);
  Truth flat = y < 0x1p-53 * abs(left);
  Truth inside = x < 1;
  Real steep = choose(x > kBig, kLog2 + log(x), log1p(left + root));
  Arc line{choose(inside, x, 1), choose(inside, root, y / root), choose(inside, y / root, steep)};
  line.cosine = choose(inside, root, choose(x > kBig, y / x, y / root));
  out = {choose(flat, line.sine, out.sine), choose(flat, line.cosine, out.cosine),
         choose(flat, line.height, out.height)};
  // At the branch point itself.
  Truth corner = y < 0x1p-500 && x == 1;
  Real small = sqrt(y);
  out = {out.sine, choose(corner, small, out.cosine), choose(corner, small, out.height)};
  // Near the imaginary axis with a small x, and far out.
  Real hypotenuse = sqrt(fma(y, y, y.like(1)));
  Truth far = x > kBig || y > kBig, thin = !far && x < 0x1p-250;
  out = {out.sine, choose(thin, hypotenuse, out.cosine),
         choose(thin, 0.5 * log1p(2 * y * (y + hypotenuse)), out.height)};
  Scale k = scale_of(max(x, y));
  Real size = magnitude({x * k.factor, y * k.factor});
  Real far_height =
      kLog2 + log(size) + choose(max(x, y) > kBig, 0x1.9fe3682cd3be4p+8, size.like(0));
  return {choose(far, x, out.sine), choose(far, y, out.cosine),
          choose(far, far_height, out.height)};
}

/// The angles and the height where z is infinite or no number (first quadrant).
struct Angles {
  Real asin, acos, height;
};
Angles angles(Complex z) {
  Real x = abs(z.re), y = abs(z.im);
  Arc a = arc(x, y);
  Truth x_infinite = is_infinite(x), y_infinite = is_infinite(y);
  Truth infinite = x_infinite || y_infinite;
  Real sine = choose(infinite, choose(x_infinite, x.like(1), choose(is_nan(x), x, 0)), a.sine);
  Real cosine = choose(infinite, choose(y_infinite, y.like(1), choose(is_nan(y), y, 0)), a.cosine);
  return {atan2(sine, cosine), atan2(cosine, sine), choose(infinite, kInfinity, a.height)};
}

}  // namespace

Complex asin(Complex z) {
  Angles a = angles(z);
  Real re = choose(z.re == 0, abs(z.re), a.asin);
  return {copysign(re, z.re), copysign(a.height, z.im)};
}

/// Left of the imaginary axis the angle is pi less the angle of -x.
Complex acos(Complex z) {
  Angles a = angles(z);
  Real half = kPi - a.acos;
  Real re = choose(z.re < 0, half + kPiLow, a.acos);
  re = choose(z.re == 0, kHalfPi, re);
  return {re, -copysign(a.height, z.im)};
}

Complex acosh(Complex z) {
  Complex w = acos(z);
  return {abs(w.im), copysign(w.re, z.im)};
}

/// -i asin(i z).
Complex asinh(Complex z) {
  Complex w = asin({-z.im, z.re});
  return {w.im, -w.re};
}

/// 1/4 log1p(4 x / ((1 - x)^2 + y^2)) + i/2 atan2(2 y, (1 - x)(1 + x) - y^2), in the first
/// quadrant.
Complex atanh(Complex z) {
  Real x = abs(z.re), y = abs(z.im), left = 1 - x;
  Truth far = x > kBig || y > kBig;
  Real most = max(max(x, y), x.like(1)), ratio = min(x, y) / most;
  Real re = 0.25 * log1p(4 * x / fma(left, left, y * y));
  re = choose(far, x / most / fma(ratio, ratio, x.like(1)) / most, re);
  re = choose(x == 1 && y < 0x1p-200, 0.5 * (kLog2 - log(y)), re);
  re = choose(is_infinite(x) || is_infinite(y), 0, re);
  Real im = 0.5 * atan2(y + y, sum_of_products(left, 1 + x, -y, y));
  im = choose(far, kHalfPi, im);
  im = choose(is_infinite(x) && is_nan(y), y, im);
  im = choose(is_infinite(y), kHalfPi, im);
  re = choose(is_nan(y) && x == 0, x, re);
  return {copysign(re, z.re), copysign(im, z.im)};
}

/// -i atanh(i z).
Complex atan(Complex z) {
  Complex w = atanh({-z.im, z.re});
  return {w.im, -w.re};
}

namespace {

/// |z|^2 of z given in pairs.
Pair square_of(Pair re, Pair im) { return re * re + im * im; }
Pair sum_of_squares(Complex z) { return two_product(z.re, z.re) + two_product(z.im, z.im); }

}  // namespace

/// With p = x + i y, m = x - i y: the height is -log(|p| / |m|) / 2, where |p|^2 - |m|^2 = 4 Im(x
/// conj y), and twice the angle is that of
/// (|x|^2 - |y|^2, 2 Re(x conj y)), up to whole turns. All of these in pairs of f64. The half turn
/// follows by p / sqrt(p m).
Complex atan2(Complex y, Complex x) {
  Real most = max(max(abs(x.re), abs(x.im)), max(abs(y.re), abs(y.im)));
  Scale s = scale_of(most);
  Real down = binade(most * s.factor).down;
  auto scaled = [&](Complex z) { return Complex{z.re * s.factor * down, z.im * s.factor * down}; };
  Complex u = scaled(x), v = scaled(y);
  Pair p_re = two_sum(u.re, -v.im), p_im = two_sum(u.im, v.re), m_re = two_sum(u.re, v.im),
       m_im = two_sum(u.im, -v.re);

  Pair across = two_product(u.im, v.re) - two_product(u.re, v.im);
  Truth up = across.high < 0;
  across = either(up, -across, across);
  Pair least = either(up, square_of(p_re, p_im), square_of(m_re, m_im));
  Pair q = across / least;
  Real ratio = 4 * q.high,
       height = log1p(ratio) + choose(is_finite(ratio), 4 * q.low / (1 + ratio), 0);
  Real gap = magnitude({choose(up, p_re.high, m_re.high), choose(up, p_im.high, m_im.high)});
  height = choose(least.high < kTiny, log(4 * across.high) - 2 * log(gap), height);
  height = 0.25 * choose(up, height, -height);

  Pair along = two_product(u.re, v.re) + two_product(u.im, v.im), n = along + along,
       d = sum_of_squares(u) - sum_of_squares(v);
  Real turn = fma(n.low, d.high, -(d.low * n.high)) / fma(n.high, n.high, d.high * d.high);
  Real half = 0.5 * (atan2(n.high, d.high) + choose(is_finite(turn), turn, 0));
  Complex p{p_re.high, p_im.high}, product = multiply(p, {m_re.high, m_im.high});
  product.im = choose(product.im == 0, square(u).im + square(v).im,
                      product.im);  // its sign says which side of the cut
  Complex root = sqrt(product);
  Real toward = sum_of_products(p.re, root.re, p.im, root.im),
       beside = sum_of_products(p.im, root.re, -p.re, root.im);
  Truth turned = sum_of_products(toward, cos(half), beside, sin(half)) < 0;
  Real side = choose(half > 0, half.like(-1), 1);
  Real angle = choose(turned, side * kPi + (half + side * kPiLow), half);
  return choose(x.im == 0 && y.im == 0, {atan2(y.re, x.re), y.im}, {angle, height});
}

}  // namespace strata::op::complex_rules
