// sin, cos, tan.
//
// Method: x = n pi/2 + r with |r| <= pi/4, then a polynomial in r^2 chosen and signed by n mod 4.
// While n is moderate, n pi/2 is subtracted in three parts: the first step is exact (both numbers
// are multiples of one unit and the difference is below 1), the others leave r as high + low.
// Larger arguments take `turned_large` (reduction.h). Constants: tools/fit/elementary.py.
#pragma once

#include "strata/loop/math/reduction.h"

namespace strata::loop::math {
namespace internal {

template <class T>
struct TrigConstants;
template <>
struct TrigConstants<float> {
  // sin r = r + r^3 s(r^2), error 2^-32.5; cos r = 1 - r^2/2 + r^4 c(r^2), error 2^-33.1
  static constexpr float kSine[] = {-0x1.555556p-3f, 0x1.111176p-7f, -0x1.a05ba6p-13f,
                                    0x1.7cce3ap-19f};
  static constexpr float kCosine[] = {0x1.55554ap-5f, -0x1.6c0c1ap-10f, 0x1.99e0f2p-16f};
};
template <>
struct TrigConstants<double> {
  static constexpr double kSine[] = {
      -0x1.5555555555555p-3,  0x1.1111111111067p-7,  -0x1.a01a019ffdbd3p-13, 0x1.71de3a32b28a6p-19,
      -0x1.ae642ae950c95p-26, 0x1.6108c4942aa5cp-33, -0x1.9f7b6b61f100ap-41};  // error 2^-63.2
  static constexpr double kCosine[] = {
      0x1.555555555554cp-5,   -0x1.6c16c16c1520fp-10, 0x1.a01a019cbcaddp-16,
      -0x1.27e4f8101bd6dp-22, 0x1.1ee9ef3096801p-29,  -0x1.8fafed64871ecp-37};  // error 2^-64.2
};

/// What sin adds to `high`, as the sine of high + low.
template <template <class> class N, class T>
N<T> sine_tail(N<T> high, N<T> low) {
  N<T> z = high * high;
  return fma(high * z, polynomial(z, TrigConstants<T>::kSine), fma(low * z, T(-0.5), low));
}

/// cos of high + low as most + tail, where most = 1 - high^2 / 2 rounded.
template <template <class> class N, class T>
struct CosineParts {
  N<T> most, tail;
};
template <template <class> class N, class T>
CosineParts<N, T> cosine_parts(N<T> high, N<T> low) {
  N<T> z = high * high;
  N<T> half = z * T(0.5);
  N<T> most = T(1) - half;
  N<T> lost = (T(1) - most) - half;
  return {most, fma(z * z, polynomial(z, TrigConstants<T>::kCosine), fma(-high, low, lost))};
}

/// sin of the angle plus `ahead` quarter turns.
template <template <class> class N, class T>
N<T> sine_ahead(Turned<N, T> t, BitsOf<T> ahead) {
  using I = BitsOf<T>;
  N<I> quarter = ahead == 0 ? t.quarter : t.quarter + N<I>(ahead);
  auto [most, tail] = cosine_parts<N, T>(t.high, t.low);
  N<T> sine = t.high + sine_tail<N, T>(t.high, t.low);
  N<T> value = select((quarter & I(1)) != I(0), most + tail, sine);
  N<I> sign = (quarter & I(2)) << I(8 * sizeof(T) - 2);
  return N<T>::from_bits(bits(value) ^ sign);
}

/// sin / cos, or -cos / sin in odd quarters, of sums of two numbers; the quotient is corrected by
/// its residual.
template <template <class> class N, class T>
N<T> tangent(Turned<N, T> t) {
  using I = BitsOf<T>;
  N<T> tail = sine_tail<N, T>(t.high, t.low);
  N<T> sine = t.high + tail, sine_low = tail - (sine - t.high);
  auto [most, rest] = cosine_parts<N, T>(t.high, t.low);
  N<T> cosine = most + rest, cosine_low = rest - (cosine - most);
  auto odd = (t.quarter & I(1)) != I(0);
  N<T> top = select(odd, -cosine, sine), top_low = select(odd, -cosine_low, sine_low);
  N<T> bottom = select(odd, sine, cosine), bottom_low = select(odd, sine_low, cosine_low);
  N<T> q = top / bottom;
  N<T> residual = fma(-q, bottom, top) + fma(-q, bottom_low, top_low);
  return q + residual / bottom;
}

}  // namespace internal

template <template <class> class N, class T>
N<T> sin(N<T> x) {
  N<T> usual = select(x == T(0), x, internal::sine_ahead<N, T>(internal::turned(x), 0));
  return rarely(internal::turns_far(x), usual,
                [&] { return internal::sine_ahead<N, T>(internal::turned_large(x), 0); });
}

template <template <class> class N, class T>
N<T> cos(N<T> x) {
  N<T> usual = internal::sine_ahead<N, T>(internal::turned(x), 1);
  return rarely(internal::turns_far(x), usual,
                [&] { return internal::sine_ahead<N, T>(internal::turned_large(x), 1); });
}

template <template <class> class N, class T>
N<T> tan(N<T> x) {
  N<T> usual = select(abs(x) < std::numeric_limits<T>::epsilon() / 4, x,
                      internal::tangent<N, T>(internal::turned(x)));
  return rarely(internal::turns_far(x), usual,
                [&] { return internal::tangent<N, T>(internal::turned_large(x)); });
}

}  // namespace strata::loop::math
