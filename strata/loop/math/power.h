// pow: x^y = 2^(y log2 |x|), with the special cases of C.
//
// For f32 all is done in f64 and rounded once. For f64 the logarithm and its product with y are
// carried as sums of two numbers, because an error in the exponent grows by a factor of up to 745.
// Constants: tools/fit/elementary.py.
#pragma once

#include "strata/loop/math/exponential.h"
#include "strata/loop/math/logarithm.h"

namespace strata::loop::math {
namespace internal {

/// |x|^y for finite positive |x| and any y but those of product 0 * infinity.
template <template <class> class N>
N<float> power_of(N<float> x, N<float> y) {
  // log2(1 + f) = f q(f), error 2^-38.5; 2^r, error 2^-34.5
  static constexpr double kLog2[] = {
      0x1.71547652b58fdp+0, -0x1.71547651b716fp-1, 0x1.ec709de33b67ep-2, -0x1.715478883dce8p-2,
      0x1.2776b6cd1506bp-2, -0x1.ec6f2dfd71687p-3, 0x1.a61b7dd5f536fp-3, -0x1.7188d38111ff2p-3,
      0x1.481fabbe36d42p-3, -0x1.23d64a3710e5fp-3, 0x1.0acdfe549c8d1p-3, -0x1.13b8bd185dbdep-3,
      0x1.0f624642b7708p-3, -0x1.1da5a851c202ap-4};
  static constexpr double kExp2[] = {
      0x1.ffffffffabb54p-1, 0x1.62e42ff116694p-1,  0x1.ebfbe0a4d0ed5p-3,  0x1.c6b08aaf0c63p-5,
      0x1.3b29dc34a1001p-7, 0x1.5d8a70850e21fp-10, 0x1.446a27c11e882p-13, 0x1.fe179ea2c3583p-17};
  constexpr double shift = kWholeShift<double> + kBias<double>;
  auto [k, f] = log_parts(x);
  N<double> wide = N<double>::convert(f);
  N<double> exponent =
      N<double>::convert(y) * fma(wide, polynomial(wide, kLog2), N<double>::convert(k));
  exponent = held(exponent, -200.0, 200.0);
  N<double> shifted = exponent + shift;
  N<double> r = exponent - (shifted - shift);
  return N<float>::convert(polynomial(r, kExp2) *
                           N<double>::from_bits(bits(shifted) << kMantissa<double>));
}

/// log2 of a positive finite x, to twice the precision. With s = f / (2 + f) and z = s^2,
/// log2(1 + f) = s (c0 + z (c1 + z q(z))); all but q in two parts.
template <template <class> class N>
TwoParts<N, double> log2_in_two(N<double> x) {
  static constexpr double kFirst = 0x1.71547652b82fep+1, kFirstLow = 0x1.777d0ffda0d24p-55;
  static constexpr double kSecond = 0x1.ec709dc3a03fdp-1, kSecondLow = 0x1.d27f05548af0cp-55;
  static constexpr double kRest[] = {0x1.2776c50ef9bfcp-1, 0x1.a61762a7aeddcp-2,
                                     0x1.484b13d6ad178p-2, 0x1.0c9a853ada046p-2,
                                     0x1.c68ee96fb5d61p-3, 0x1.8a09b52e41cfdp-3,
                                     0x1.58fd0560aeca8p-3, 0x1.61eeeb4520441p-3};  // error 2^-71.9
  using D = N<double>;
  auto [k, f] = log_parts(x);
  D d = f + 2.0, d_low = f - (d - 2.0);
  D s = f / d, s_low = fma(-s, d_low, fma(-s, d, f)) / d;
  D z = s * s, z_low = fma(s, s, -z) + (s + s) * s_low;
  D tail = z * polynomial(z, kRest);
  D a = tail + kSecond, a_low = (tail - (a - kSecond)) + kSecondLow;
  D b = z * a, b_low = fma(z, a, -b) + fma(z, a_low, z_low * a);
  D c = b + kFirst, c_low = (b - (c - kFirst)) + (b_low + kFirstLow);
  D l = s * c, l_low = fma(s, c, -l) + fma(s, c_low, s_low * c);
  D log = k + l, log_low = (l - (log - k)) + l_low;
  D high = log + log_low;
  return {high, log_low - (high - log)};
}

/// 2^(high + low).
template <template <class> class N>
N<double> exp2_of_two(N<double> high, N<double> low) {
  low = select(abs(high) < 1100.0, low, N<double>(0.0));
  auto [power, whole, r] = exp2_parts(high);
  N<double> sum = r + low, sum_low = low - (sum - r);
  TimesLn2<N, double> scaled(sum);
  return exp_of<N, double>(scaled.t, fma(sum_low, ExpConstants<double>::kLn2, scaled.lost), whole,
                           power);
}

template <template <class> class N>
N<double> power_of(N<double> x, N<double> y) {
  auto [log, log_low] = log2_in_two<N>(x);
  N<double> product = y * log;
  return exp2_of_two<N>(product, fma(y, log, -product) + y * log_low);
}

}  // namespace internal

template <template <class> class N, class T>
N<T> pow(N<T> x, N<T> y) {
  N<T> a = abs(x), half = y * T(0.5);
  auto whole = rint(y) == y;
  auto odd = whole & (rint(half) != half), fractional = !whole;
  auto above = y > T(0), negative = bits(x) < BitsOf<T>(0);
  auto extreme = (a == T(0)) | (a == kInfinity<T>);
  N<T> magnitude = internal::power_of<N>(a, y);
  magnitude =
      select(extreme, select((a == T(0)) ^ above, N<T>(kInfinity<T>), N<T>(T(0))), magnitude);
  magnitude = select(a == T(1), a, magnitude);
  N<T> signed_value = select(negative & odd, -magnitude, magnitude);
  N<T> defined = select(fractional & (x < T(0)) & (a < kInfinity<T>), N<T>(kNaN<T>), signed_value);
  N<T> no_nan = select((x != x) | (y != y), x + y, defined);
  return select((x == T(1)) | (y == T(0)), N<T>(T(1)), no_nan);
}

}  // namespace strata::loop::math
