// atan2, atan, asin, acos. Constants: tools/fit/elementary.py.
#pragma once

#include "strata/loop/math/number.h"

namespace strata::loop::math {
namespace internal {
template <class T>
struct AngleConstants;
template <>
struct AngleConstants<float> {
  // atan(q) = q + q^3 p(q^2) up to tan(pi/8), error 2^-30.5
  static constexpr float kAtan[] = {-0x1.55554ap-2f, 0x1.9991e8p-3f, -0x1.23ba42p-3f,
                                    0x1.b22ebcp-4f, -0x1.f31caap-5f};
  // asin(x) = x + x^3 p(x^2) up to 1/2, error 2^-31.7
  static constexpr float kAsin[] = {0x1.55554cp-3f, 0x1.3338aap-4f, 0x1.6ca7ep-5f,
                                    0x1.04ccc2p-5f, 0x1.d590a6p-7f, 0x1.349b22p-5f};
  static constexpr float kQuarter = 0x1.921fb6p-1f, kQuarterLow = -0x1.777a5cp-26f;  // pi/4
  static constexpr float kThree = 0x1.2d97c8p+1f, kThreeLow = -0x1.99bc5cp-28f;      // 3 pi/4
  static constexpr float kLarge = 0x1p100f, kSmall = 0x1p-40f, kDown = 0x1p-30f, kUp = 0x1p100f,
                         kTiny = 0x1p-40f;
};
template <>
struct AngleConstants<double> {
  static constexpr double kAtan[] = {
      -0x1.555555555553dp-2, 0x1.9999999995898p-3, -0x1.24924922aef6dp-3, 0x1.c71c70e6c0cc9p-4,
      -0x1.745cf8f0de19ap-4, 0x1.3b111a82f36fdp-4, -0x1.10ebc79d129eep-4, 0x1.df101eb3b091ep-5,
      -0x1.9cd638a43f9a4p-5, 0x1.37ddd5fb0e893p-5, -0x1.257acc122a5b3p-6};  // error 2^-59.5
  static constexpr double kAsin[] = {
      0x1.5555555555578p-3, 0x1.333333332df2p-4,  0x1.6db6db722ab04p-5, 0x1.f1c71a8bedd36p-6,
      0x1.6e8bdfdca0e15p-6, 0x1.1c49dec2f33bbp-6, 0x1.ca21310bac928p-7, 0x1.757832e4e544p-7,
      0x1.6186eeb3394eap-7, 0x1.e19702c0e344ap-9, 0x1.64ef221596f9dp-6, -0x1.59dad86ec9825p-6,
      0x1.0bdb745fbdf94p-5};  // error 2^-59.8
  static constexpr double kQuarter = 0x1.921fb54442d18p-1, kQuarterLow = 0x1.1a62633145c07p-55;
  static constexpr double kThree = 0x1.2d97c7f3321d2p+1, kThreeLow = 0x1.a79394c9e8a0ap-54;
  static constexpr double kLarge = 0x1p900, kSmall = 0x1p-400, kDown = 0x1p-200, kUp = 0x1p800,
                          kTiny = 0x1p-100;
};

/// atan(n / d) for 0 <= n <= d as pi/4 (if wide) + q + tail: taken as it is up to tan(pi/8), else
/// as pi/4 + atan((n - d) / (n + d)). The quotient is corrected by its residual.
template <template <class> class N, class T>
struct Slope {
  N<bool> wide;
  N<T> q, tail;
};
template <template <class> class N, class T>
Slope<N, T> slope(N<T> n, N<T> d) {
  using C = AngleConstants<T>;
  auto wide = n > d * T(0.41421356237309503);
  N<T> sum = n + d, difference = n - d;
  N<T> top = select(wide, difference, n), bottom = select(wide, sum, d);
  N<T> top_low = select(wide, n - (difference + d), N<T>(T(0))),
       bottom_low = select(wide, n - (sum - d), N<T>(T(0)));
  N<T> q = top / bottom;
  N<T> residual = fma(-q, bottom, top) + fma(-q, bottom_low, top_low);
  N<T> correction =
      select((abs(q) > C::kTiny) & (bottom < kInfinity<T>), residual / bottom, N<T>(T(0)));
  N<T> z = q * q;
  return {wide, q, fma(q * z, polynomial(z, C::kAtan), correction)};
}

/// base + base_low + value + tail, rounded once where |value| <= |base| or base = 0.
template <template <class> class N, class T>
N<T> angle_sum(N<T> base, N<T> base_low, N<T> value, N<T> tail) {
  N<T> high = base + value, low = value - (high - base);
  return high + ((low + base_low) + tail);
}

/// asin(a) for 0 <= a as value + tail up to 1/2, beyond as pi/2 - (value + tail) with value = 2
/// sqrt((1 - a) / 2).
template <template <class> class N, class T>
struct Arc {
  N<bool> far;
  N<T> value, tail;
};
template <template <class> class N, class T>
Arc<N, T> arc(N<T> a) {
  auto far = a > T(0.5);
  N<T> z = select(far, fma(a, T(-0.5), T(0.5)), a * a);
  N<T> p = z * polynomial(z, AngleConstants<T>::kAsin);
  N<T> s = sqrt_rounded(z);
  N<T> s_low = select(s > T(0), fma(-s, s, z) / (s + s), N<T>(T(0)));
  N<T> tail = fma(s, p, s_low);
  return {far, select(far, s + s, a), select(far, tail + tail, a * p)};
}
}  // namespace internal

/// With n <= d the two magnitudes, swapping the axes and mirroring them adds a multiple of pi/4 to
/// atan(n / d) and a sign. The multiple has two parts, so one rounding matters.
template <template <class> class N, class T>
N<T> atan2(N<T> y, N<T> x) {
  using C = internal::AngleConstants<T>;
  N<T> ay = abs(y), ax = abs(x);
  auto steep = ay > ax;
  N<T> largest = select(steep, ay, ax), least = select(steep, ax, ay);
  auto both_infinite = least == kInfinity<T>;
  auto none = largest == T(0);
  // The scale keeps sums from overflowing and residuals from underflowing.
  N<T> factor = select(largest > C::kLarge, N<T>(C::kDown),
                       select(largest < C::kSmall, N<T>(C::kUp), N<T>(T(1))));
  N<T> d = select(both_infinite | none, N<T>(T(1)), largest * factor);
  N<T> n = select(both_infinite, N<T>(T(1)), least * factor);
  auto [wide, q, tail] = internal::slope<N, T>(n, d);

  auto left = bits(x) < BitsOf<T>(0), backward = steep ^ left;
  N<T> diagonal = select(left, N<T>(C::kThree), N<T>(C::kQuarter));
  N<T> diagonal_low = select(left, N<T>(C::kThreeLow), N<T>(C::kQuarterLow));
  N<T> quarters = select(steep, N<T>(T(2)), select(left, N<T>(T(4)), N<T>(T(0))));
  N<T> base = select(wide, diagonal, quarters * C::kQuarter);
  N<T> base_low = select(wide, diagonal_low, quarters * C::kQuarterLow);
  N<T> angle = internal::angle_sum<N, T>(base, base_low, select(backward, -q, q),
                                         select(backward, -tail, tail));
  return select((x != x) | (y != y), x + y, copysign(angle, y));
}

template <template <class> class N, class T>
N<T> atan(N<T> x) {
  using C = internal::AngleConstants<T>;
  N<T> a = abs(x), one(T(1)), zero(T(0));
  auto steep = a > T(1);
  auto [wide, q, tail] = internal::slope<N, T>(select(steep, one, a), select(steep, a, one));
  N<T> base = select(wide, N<T>(C::kQuarter), select(steep, N<T>(T(2) * C::kQuarter), zero));
  N<T> base_low =
      select(wide, N<T>(C::kQuarterLow), select(steep, N<T>(T(2) * C::kQuarterLow), zero));
  return copysign(
      internal::angle_sum<N, T>(base, base_low, select(steep, -q, q), select(steep, -tail, tail)),
      x);
}

template <template <class> class N, class T>
N<T> asin(N<T> x) {
  using C = internal::AngleConstants<T>;
  auto [far, value, tail] = internal::arc<N, T>(abs(x));
  N<T> zero(T(0));
  N<T> base = select(far, N<T>(T(2) * C::kQuarter), zero),
       base_low = select(far, N<T>(T(2) * C::kQuarterLow), zero);
  return copysign(internal::angle_sum<N, T>(base, base_low, select(far, -value, value),
                                            select(far, -tail, tail)),
                  x);
}

template <template <class> class N, class T>
N<T> acos(N<T> x) {
  using C = internal::AngleConstants<T>;
  auto [far, value, tail] = internal::arc<N, T>(abs(x));
  auto negative = x < T(0), forward = negative ^ far;
  N<T> quarters = select(far, select(negative, N<T>(T(4)), N<T>(T(0))), N<T>(T(2)));
  return internal::angle_sum<N, T>(quarters * C::kQuarter, quarters * C::kQuarterLow,
                                   select(forward, value, -value), select(forward, tail, -tail));
}

}  // namespace strata::loop::math
