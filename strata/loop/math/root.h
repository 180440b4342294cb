// Square and cube roots.
#pragma once

#include "strata/loop/math/logarithm.h"

namespace strata::loop::math {
namespace internal {
template <class T>
struct RootConstants;
template <>
struct RootConstants<float> {
  static constexpr float kSmall = 0x1p-100f, kRaise = 0x1p96f, kRootOfRaise = 0x1p48f;
  // (1 + f)^(-1/3), error 2^-11.9
  static constexpr float kGuess[] = {0x1.ffe2fcp-1f, -0x1.56b3dep-2f, 0x1.e6da7ap-3f,
                                     -0x1.44ae8cp-3f};
};
template <>
struct RootConstants<double> {
  static constexpr double kSmall = 0x1p-900, kRaise = 0x1p512, kRootOfRaise = 0x1p256;
  static constexpr double kGuess[] = {
      0x1.0000408972822p+0,  -0x1.55425d14c00d2p-2, 0x1.c5d8cf28d7221p-3,
      -0x1.68139225c783ap-3, 0x1.4889d4e1ec644p-3,  -0x1.baa3e51c7d42cp-4};  // error 2^-17.4
};
}  // namespace internal

template <template <class> class N, class T>
N<T> sqrt(N<T> x) {
  return sqrt_rounded(x);
}

/// y = 1 / s for the rounded root s is off by up to 1.5 ulp. e = x - s^2 and 1 - s y, both exact by
/// fma, say how far s and y were: 1 / sqrt(x) = y + y (1 - s y) - y^3 e / 2. Small x are raised
/// first so that e does not underflow.
template <template <class> class N, class T>
N<T> rsqrt(N<T> x) {
  using C = internal::RootConstants<T>;
  auto small = x < C::kSmall;
  N<T> raised = select(small, x * C::kRaise, x);
  N<T> s = sqrt_rounded(raised);
  N<T> y = N<T>(T(1)) / s;
  N<T> e = fma(-s, s, raised);
  N<T> corrected = fma(y, fma(e * y, y * T(-0.5), fma(-s, y, T(1))), y);
  N<T> lifted = select((raised > T(0)) & (raised < kInfinity<T>), corrected, y);
  return select(small, lifted * C::kRootOfRaise, lifted);
}

/// |x| = 8^q w with w = 2^n (1 + f), n in {0, 1, 2}. g near w^(-1/3) from a polynomial is made
/// better by the series of g (1 - e)^(-1/3) for e = 1 - w g^3, and y = w g^2 by the residual w -
/// y^3.
template <template <class> class N, class T>
N<T> cbrt(N<T> x) {
  N<T> a = abs(x);
  auto [k, f] = internal::log_parts(a);
  N<T> q = floor(fma(k, T(1.0 / 3), T(1.0 / 6)));
  N<T> n = k - q * T(3);
  auto one = n == T(1), two = n == T(2);
  N<T> w = (f + T(1)) * select(one, N<T>(T(2)), select(two, N<T>(T(4)), N<T>(T(1))));
  N<T> guess = polynomial(f, internal::RootConstants<T>::kGuess);
  N<T> g = guess * select(one, N<T>(T(0x1.965fea53d6e3dp-1)),
                          select(two, N<T>(T(0x1.428a2f98d728bp-1)), N<T>(T(1))));
  N<T> e = fma(-(w * g), g * g, T(1));
  g = fma(g * e, fma(e, fma(e, T(14.0 / 81), T(2.0 / 9)), T(1.0 / 3)), g);
  N<T> y = w * g * g;
  N<T> square = y * y;
  N<T> residual = fma(-square, y, w) - fma(y, y, -square) * y;
  y = fma(residual, g * g * T(1.0 / 3), y);
  N<T> power = N<T>::from_bits(bits(q + (kWholeShift<T> + kBias<T>)) << kMantissa<T>);
  return select((a > T(0)) & (a < kInfinity<T>), copysign(y * power, x), x);
}

}  // namespace strata::loop::math
