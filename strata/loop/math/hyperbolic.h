// sinh, cosh, asinh, acosh, atanh; tanh is with the exponentials.
//
// All are computed in f64, f32 too, where every step but the last is exact enough not to count.
// Constants: tools/fit/elementary.py.
#pragma once

#include "strata/loop/math/exponential.h"
#include "strata/loop/math/logarithm.h"

namespace strata::loop::math {
namespace internal {

/// Constants in f64 for results of type T.
template <class T>
struct HyperbolicConstants;
template <>
struct HyperbolicConstants<float> {
  static constexpr double kInfinite = 100.0;  // the result is infinite from here on
  // sinh(r) = r + r^3 s(r^2), cosh(r) = 1 + r^2 c(r^2) up to ln2 / 2
  static constexpr double kSinh[] = {0x1.555555738489ap-3, 0x1.1110b1c8f2a5cp-7,
                                     0x1.a16fea2c6f9a3p-13};  // error 2^-37.5
  static constexpr double kCosh[] = {0x1.00000043f378fp-1, 0x1.55547ed9bc728p-5,
                                     0x1.6d97888b6bfb3p-10};  // error 2^-34.3
};
template <>
struct HyperbolicConstants<double> {
  static constexpr double kInfinite = 710.6;
  static constexpr double kSinh[] = {
      0x1.5555555555555p-3,  0x1.1111111111387p-7,  0x1.a01a019ea05bep-13,
      0x1.71de4083636f8p-19, 0x1.ae4ccb0df542fp-26, 0x1.82c3b961a875ap-33};  // error 2^-65.2
  static constexpr double kCosh[] = {0x1p-1,
                                     0x1.5555555555556p-5,
                                     0x1.6c16c16c15dc8p-10,
                                     0x1.a01a01a950fc3p-16,
                                     0x1.27e4d4a1e3aefp-22,
                                     0x1.1f7f34ed987f9p-29};  // error 2^-69.2
};

/// With |x| = k ln2 + r: half the sum and half the difference of 2^k and 2^-k (at half size,
/// because 2^k alone may overflow), sinh(r), and cosh(r) - 1.
template <template <class> class N>
struct HyperbolicParts {
  N<double> sum, difference, sinh, cosh_less_one;
};
template <template <class> class N, class T>
HyperbolicParts<N> hyperbolic_parts(N<double> a) {
  using C = HyperbolicConstants<T>;
  auto [power, k, r] = exp_parts(select(a > C::kInfinite, N<double>(C::kInfinite), a));
  N<double> up = two_to<N, double>(power, -2);
  N<double> small = select(k > 1000.0, N<double>(1000.0), k);
  N<double> down = N<double>::from_bits(bits((kWholeShift<double> + (kBias<double> - 2)) - small)
                                        << kMantissa<double>);
  N<double> z = r * r;
  return {up + down, up - down, fma(r * z, polynomial(z, C::kSinh), r),
          z * polynomial(z, C::kCosh)};
}

/// log(1 + t) for t >= 0; the logarithm of 2 `large` where that is the larger number.
template <template <class> class N>
N<double> log_one_plus(N<double> t, N<bool> is_large, N<double> large) {
  N<double> u = t + 1.0;
  N<double> lost = select(t > 1.0, 1.0 - (u - t), t - (u - 1.0));
  N<double> ratio = select(is_large, N<double>(0.0), lost / u);
  N<double> log = log_of(select(is_large, large, u), ratio);
  return log + select(is_large, N<double>(ExpConstants<double>::kLn2), N<double>(0.0));
}

}  // namespace internal

/// sinh(k ln2 + r) = sinh(k ln2) cosh(r) + cosh(k ln2) sinh(r).
template <template <class> class N, class T>
N<T> sinh(N<T> x) {
  N<double> a = N<double>::convert(abs(x));
  auto [sum, difference, odd, even] = internal::hyperbolic_parts<N, T>(a);
  N<double> half = difference + fma(difference, even, sum * odd);
  return copysign(N<T>::convert(select(a < 0x1p-28, a, half + half)),
                  x);  // half of a subnormal number is none
}

template <template <class> class N, class T>
N<T> cosh(N<T> x) {
  auto [sum, difference, odd, even] = internal::hyperbolic_parts<N, T>(N<double>::convert(abs(x)));
  N<double> half = sum + fma(sum, even, difference * odd);
  return N<T>::convert(half + half);
}

/// log(a + sqrt(a^2 + 1)) = log(1 + t), t = a + a^2 / (1 + sqrt(a^2 + 1)); log(2 a) where the one
/// does not count.
template <template <class> class N, class T>
N<T> asinh(N<T> x) {
  N<double> a = N<double>::convert(abs(x));
  auto large = a > 0x1p28;
  N<double> v = select(large, N<double>(1.0), a), square = v * v;
  N<double> t = v + square / (sqrt_rounded(square + 1.0) + 1.0);
  N<double> y = internal::log_one_plus<N>(t, large, a);
  return copysign(N<T>::convert(select(a < kInfinity<double>, y, a)), x);
}

/// log(x + sqrt(x^2 - 1)) = log(1 + t), t = v + sqrt(v (v + 2)), v = x - 1.
template <template <class> class N, class T>
N<T> acosh(N<T> single) {
  N<double> x = N<double>::convert(single);
  auto large = x > 0x1p28;
  N<double> v = select(large, N<double>(1.0), x - 1.0);
  N<double> y = internal::log_one_plus<N>(v + sqrt_rounded(fma(v, v, v + v)), large, x);
  N<double> defined = select(x < kInfinity<double>, y, x);
  return N<T>::convert(select(x < 1.0, N<double>(kNaN<double>), defined));
}

/// log((1 + a) / (1 - a)) / 2 = log(1 + t) / 2, t = 2 a / (1 - a).
template <template <class> class N, class T>
N<T> atanh(N<T> x) {
  N<double> a = N<double>::convert(abs(x));
  N<double> t = (a + a) / (1.0 - a), u = t + 1.0;
  N<double> lost = select(t > 1.0, 1.0 - (u - t), t - (u - 1.0));
  N<double> y = internal::log_of(u, lost / u) * 0.5;
  N<double> defined =
      select(a == 1.0, N<double>(kInfinity<double>), select(a > 1.0, N<double>(kNaN<double>), y));
  return copysign(N<T>::convert(defined), x);
}

}  // namespace strata::loop::math
