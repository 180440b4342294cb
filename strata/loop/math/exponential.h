// e^x and what is built from it: exp, exp2, expm1, logistic, tanh.
//
// Method: x = k ln2 + r with k whole and |r| <= ln2 / 2, so e^x = 2^k e^r, and e^r - 1 is a
// polynomial. ln2 is subtracted in two parts by fma, so that r carries only its own last rounding.
// Constants: tools/fit/elementary.py.
#pragma once

#include "strata/loop/math/number.h"
#include "strata/loop/math/pieces.h"

namespace strata::loop::math {
namespace internal {

template <class T>
struct ExpConstants;
template <>
struct ExpConstants<float> {
  static constexpr float kInverse = 0x1.715476p+0f, kLn2 = 0x1.62e43p-1f, kLn2Low = -0x1.05c61p-29f;
  // e^r = 1 + r + r^2 q(r), error 2^-27.6, less where e^r is in a lower binade
  static constexpr float kExp[] = {0x1.fffff6p-2f, 0x1.555468p-3f, 0x1.555d1p-5f, 0x1.1255e6p-7f,
                                   0x1.67be96p-10f};
  // the same with the error against e^r - 1, 2^-28.7
  static constexpr float kExpMinusOne[] = {0x1.0p-1f,     0x1.555556p-3f,  0x1.5554aep-5f,
                                           0x1.11109p-7f, 0x1.6d7486p-10f, 0x1.a1a1c4p-13f};
  static constexpr float kHighest = 89.0f, kLowest = -104.0f;             // beyond: infinity, zero
  static constexpr float kHighestPower = 130.0f, kLowestPower = -151.0f;  // the same for 2^x
  static constexpr float kMinusOne = -20.0f;  // e^x - 1 rounds to -1 below
};
template <>
struct ExpConstants<double> {
  static constexpr double kInverse = 0x1.71547652b82fep+0, kLn2 = 0x1.62e42fefa39efp-1,
                          kLn2Low = 0x1.abc9e3b39803fp-56;
  static constexpr double kExp[] = {0x1p-1,
                                    0x1.555555555555dp-3,
                                    0x1.555555555556cp-5,
                                    0x1.111111110e548p-7,
                                    0x1.6c16c16c0a3adp-10,
                                    0x1.a01a01b5f5b45p-13,
                                    0x1.a01a01e8f0a34p-16,
                                    0x1.71ddeaa9703c1p-19,
                                    0x1.27e449a0ee881p-22,
                                    0x1.af744e4addc47p-26,
                                    0x1.2052456cd5e6dp-29};  // error 2^-63.5
  static constexpr auto& kExpMinusOne = kExp;
  static constexpr double kHighest = 710.0, kLowest = -746.0;
  static constexpr double kHighestPower = 1026.0, kLowestPower = -1076.0;
  static constexpr double kMinusOne = -40.0;
};

/// x = k ln2 + r. `power` has k + 2 bias in its low bits, as `scale` takes it (number.h).
template <template <class> class N, class T>
struct ExpParts {
  N<BitsOf<T>> power;
  N<T> k, r;
};

template <template <class> class N, class T>
ExpParts<N, T> exp_parts(N<T> x) {
  using C = ExpConstants<T>;
  constexpr T shift = kWholeShift<T> + 2 * kBias<T>;
  N<T> shifted = fma(x, C::kInverse, shift);
  N<T> k = shifted - shift;
  return {bits(shifted), k, fma(k, -C::kLn2Low, fma(k, -C::kLn2, x))};
}

/// e^r - 1 for the reduced r.
template <template <class> class N, class T>
N<T> exp_minus_one(N<T> r) {
  return fma(r * r, polynomial(r, ExpConstants<T>::kExp), r);
}

/// 2^k for k + 2 bias in the low bits of `power`, where it is a normal number.
template <template <class> class N, class T>
N<T> two_to(N<BitsOf<T>> power, int more = 0) {
  return N<T>::from_bits((power - BitsOf<T>(kBias<T> - more)) << kMantissa<T>);
}

/// x held within [low, high]; NaN stays.
template <template <class> class N, class T>
N<T> held(N<T> x, T low, T high) {
  N<T> below = select(x > high, N<T>(high), x);
  return select(below < low, N<T>(low), below);
}

/// high = k + r for 2^high; k beyond what gives infinity or zero is held there.
template <template <class> class N, class T>
ExpParts<N, T> exp2_parts(N<T> high) {
  using C = ExpConstants<T>;
  constexpr T shift = kWholeShift<T> + 2 * kBias<T>;
  high = held(high, C::kLowestPower, C::kHighestPower);
  N<T> shifted = high + shift;
  N<T> k = shifted - shift;
  return {bits(shifted), k, high - k};
}

/// r ln2 as t + what t lost.
template <template <class> class N, class T>
struct TimesLn2 {
  N<T> t, lost;
  explicit TimesLn2(N<T> r)
      : t(r * ExpConstants<T>::kLn2),
        lost(fma(r, ExpConstants<T>::kLn2Low, fma(r, ExpConstants<T>::kLn2, -t))) {}
};

/// 2^k e^(t + low).
template <template <class> class N, class T>
N<T> exp_of(N<T> t, N<T> low, N<T> k, N<BitsOf<T>> power) {
  return scale(t + fma(t * t, polynomial(t, ExpConstants<T>::kExp), low) + T(1), k, power);
}

}  // namespace internal

template <template <class> class N, class T>
N<T> exp(N<T> x) {
  using C = internal::ExpConstants<T>;
  auto [power, k, r] = internal::exp_parts(internal::held(x, C::kLowest, C::kHighest));
  return scale(internal::exp_minus_one(r) + T(1), k, power);
}

template <template <class> class N, class T>
N<T> exp2(N<T> x) {
  auto [power, k, r] = internal::exp2_parts(x);
  internal::TimesLn2<N, T> product(r);
  return internal::exp_of<N, T>(product.t, product.lost, k, power);
}

/// (2^k - 1) + 2^k r + 2^k (e^r - 1 - r). The two larger parts cancel most when k = 1, so what they
/// round away is kept, and what r does. All at half size, because 2^k alone may overflow.
template <template <class> class N, class T>
N<T> expm1(N<T> x) {
  using C = internal::ExpConstants<T>;
  N<T> within = internal::held(x, C::kMinusOne, C::kHighest);
  auto [power, k, r] = internal::exp_parts(within);
  N<T> r_low = fma(k, -C::kLn2Low, fma(k, -C::kLn2, within) - r);
  N<T> half = internal::two_to<N, T>(power, -1);
  N<T> base = half - T(0.5), base_low = (half - base) - T(0.5);
  N<T> sum = fma(half, r, base), sum_low = fma(half, r, base - sum) + base_low;
  N<T> y = sum + fma(half, fma(r * r, polynomial(r, C::kExpMinusOne), r_low), sum_low);
  return select(abs(x) < std::numeric_limits<T>::epsilon() / 4, x, y + y);
}

/// With E = e^-|x| = 2^k (n + l) kept as an unevaluated sum, the quotient 1 / (1 + E) or E / (1 +
/// E) is corrected by its residual, so only the last rounding and that of e^r - 1 remain.
template <template <class> class N, class T>
N<T> logistic(N<T> x) {
  using C = internal::ExpConstants<T>;
  N<T> a = abs(x);
  auto [power, k, r] = internal::exp_parts(select(a > -C::kLowest, N<T>(C::kLowest), -a));
  N<T> p = internal::exp_minus_one(r);
  N<T> n = p + T(1), l = p - (n - T(1));
  N<T> e = scale(n, k, power), e_low = scale(l, k, power);
  N<T> d = e + T(1), d_low = (e - (d - T(1))) + e_low;
  N<T> inverse = N<T>(T(1)) / d;
  auto negative = x < T(0);
  N<T> top = select(negative, n, N<T>(T(1)));
  N<T> y = top * inverse;
  N<T> rest = fma(-y, d_low, fma(-y, d, top)) + select(negative, l, N<T>(T(0)));
  y = fma(rest, inverse, y);
  return select(negative, scale(y, k, power), y);
}

namespace internal {
struct TanhConstants {  // f64
  static constexpr double kOne = 19.1;
  static constexpr double kTanh[] = {
      -0x1.5555555555555p-2,  0x1.11111111110a2p-3,  -0x1.ba1ba1ba15fd5p-5,  0x1.664f4881a2745p-6,
      -0x1.226e353cf918p-7,   0x1.d6d3cbcc5ff26p-9,  -0x1.7da31fd971193p-10, 0x1.35558a674510bp-11,
      -0x1.f557e2c03c646p-13, 0x1.95b0cf85b4ebap-14, -0x1.4622e850c9e09p-15, 0x1.0041a2832cff1p-16,
      -0x1.7af7a0a8e525dp-18, 0x1.ed10dc59a9d1fp-20, -0x1.fe33a37fc87c9p-22, 0x1.6834f29e6137bp-24,
      -0x1.fa3c9e36b38d2p-28};  // error 2^-63
};
}  // namespace internal

/// f64: x + x^3 q(x^2) up to 1; 1 - 2 / (e^2|x| + 1) above, where the quotient's error counts
/// little. f32: pieces.h.
template <template <class> class N, class T>
N<T> tanh(N<T> x) {
  N<T> a = abs(x);
  if constexpr (sizeof(T) == 4) {
    return copysign(internal::in_pieces<internal::TanhPieces, N>(a), x);
  } else {
    using C = internal::TanhConstants;
    N<T> z = x * x;
    N<T> small = fma(x * z, polynomial(z, C::kTanh), x);
    N<T> held = select(a > C::kOne, N<T>(C::kOne), a);
    auto [power, k, r] = internal::exp_parts(held + held);
    N<T> s = internal::two_to<N, T>(power);
    N<T> d = fma(s, internal::exp_minus_one(r), s + T(1));
    return copysign(select(a < T(1), small, T(1) - T(2) / d), x);
  }
}

}  // namespace strata::loop::math
