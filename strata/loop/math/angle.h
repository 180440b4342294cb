// atan2.
#pragma once

#include "strata/loop/math/number.h"

namespace strata::loop::math {
namespace internal {
template <class T>
struct AngleConstants;
template <>
struct AngleConstants<float> {
  // atan(q) = q + q^3 p(q^2) up to tan(pi/8), error 2^-30.5
  static constexpr float kAtan[] = {-0x1.55554ap-2f, 0x1.9991e8p-3f, -0x1.23ba42p-3f, 0x1.b22ebcp-4f, -0x1.f31caap-5f};
  static constexpr float kQuarter = 0x1.921fb6p-1f, kQuarterLow = -0x1.777a5cp-26f;  // pi/4
  static constexpr float kThree = 0x1.2d97c8p+1f, kThreeLow = -0x1.99bc5cp-28f;      // 3 pi/4
  static constexpr float kLarge = 0x1p100f, kSmall = 0x1p-40f, kDown = 0x1p-30f, kUp = 0x1p100f, kTiny = 0x1p-40f;
};
template <>
struct AngleConstants<double> {
  static constexpr double kAtan[] = {-0x1.555555555553dp-2, 0x1.9999999995898p-3, -0x1.24924922aef6dp-3, 0x1.c71c70e6c0cc9p-4,
                                     -0x1.745cf8f0de19ap-4, 0x1.3b111a82f36fdp-4, -0x1.10ebc79d129eep-4, 0x1.df101eb3b091ep-5,
                                     -0x1.9cd638a43f9a4p-5, 0x1.37ddd5fb0e893p-5, -0x1.257acc122a5b3p-6};  // error 2^-59.5
  static constexpr double kQuarter = 0x1.921fb54442d18p-1, kQuarterLow = 0x1.1a62633145c07p-55;
  static constexpr double kThree = 0x1.2d97c7f3321d2p+1, kThreeLow = 0x1.a79394c9e8a0ap-54;
  static constexpr double kLarge = 0x1p900, kSmall = 0x1p-400, kDown = 0x1p-200, kUp = 0x1p800, kTiny = 0x1p-100;
};
}  // namespace internal

/// With n <= d the two magnitudes, atan(n / d) is taken as it is up to tan(pi/8), else as pi/4 + atan((n - d) / (n + d)).
/// Swapping the axes and mirroring them adds a multiple of pi/4 and a sign. Quotients are corrected by their
/// residuals and the multiple of pi/4 has two parts, so one rounding matters.
template <template <class> class N, class T>
N<T> atan2(N<T> y, N<T> x) {
  using C = internal::AngleConstants<T>;
  N<T> ay = abs(y), ax = abs(x);
  auto steep = ay > ax;
  N<T> largest = select(steep, ay, ax), least = select(steep, ax, ay);
  auto both_infinite = least == kInfinity<T>;
  auto none = largest == T(0);
  // The scale keeps sums from overflowing and residuals from underflowing.
  N<T> factor = select(largest > C::kLarge, N<T>(C::kDown), select(largest < C::kSmall, N<T>(C::kUp), N<T>(T(1))));
  N<T> d = select(both_infinite | none, N<T>(T(1)), largest * factor);
  N<T> n = select(both_infinite, N<T>(T(1)), least * factor);

  auto wide = n > d * T(0.41421356237309503);
  N<T> sum = n + d, difference = n - d;
  N<T> top = select(wide, difference, n), bottom = select(wide, sum, d);
  N<T> top_low = select(wide, n - (difference + d), N<T>(T(0))), bottom_low = select(wide, n - (sum - d), N<T>(T(0)));
  N<T> q = top / bottom;
  N<T> residual = fma(-q, bottom, top) + fma(-q, bottom_low, top_low);
  N<T> correction = select((abs(q) > C::kTiny) & (bottom < kInfinity<T>), residual / bottom, N<T>(T(0)));
  N<T> z = q * q;
  N<T> tail = fma(q * z, polynomial(z, C::kAtan), correction);

  auto left = bits(x) < BitsOf<T>(0), backward = steep ^ left;
  N<T> diagonal = select(left, N<T>(C::kThree), N<T>(C::kQuarter));
  N<T> diagonal_low = select(left, N<T>(C::kThreeLow), N<T>(C::kQuarterLow));
  N<T> quarters = select(steep, N<T>(T(2)), select(left, N<T>(T(4)), N<T>(T(0))));
  N<T> base = select(wide, diagonal, quarters * C::kQuarter);
  N<T> base_low = select(wide, diagonal_low, quarters * C::kQuarterLow);
  N<T> turn = select(backward, -q, q);
  N<T> high = base + turn, low = turn - (high - base);
  N<T> angle = high + ((low + base_low) + select(backward, -tail, tail));
  return select((x != x) | (y != y), x + y, copysign(angle, y));
}

}  // namespace strata::loop::math
