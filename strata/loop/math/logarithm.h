// log, log2, log1p.
//
// Method: x = 2^k m with m in [sqrt(1/2), sqrt(2)), f = m - 1 exactly, log x = k ln2 + log(1 + f),
// the last a polynomial. The larger parts k ln2 + f are added without error, so that one rounding
// matters. Constants: tools/fit/elementary.py.
#pragma once

#include "strata/loop/math/number.h"

namespace strata::loop::math {
namespace internal {

template <class T>
struct LogConstants;
template <>
struct LogConstants<float> {
  static constexpr std::int32_t kRoot = 0x3f3504f3;                       // bits of sqrt(1/2)
  static constexpr float kLn2 = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;  // k kLn2 is exact
  static constexpr float kInverse = 0x1.715476p+0f, kInverseLow = 0x1.4ae0cp-26f;
  // log(1 + f) = f - f^2/2 + f^3 q(f), error 2^-29.3
  static constexpr float kLog[] = {0x1.555548p-2f,  -0x1.00007p-2f,  0x1.99a54p-3f,
                                   -0x1.552f0cp-3f, 0x1.23034ep-3f,  -0x1.01055cp-3f,
                                   0x1.eff7cep-4f,  -0x1.bf1346p-4f, 0x1.b53c6cp-5f};
};
template <>
struct LogConstants<double> {
  static constexpr std::int64_t kRoot = 0x3fe6a09e667f3bcd;
  static constexpr double kLn2 = 0x1.62e42fefa38p-1, kLn2Low = 0x1.ef35793c7673p-45;
  static constexpr double kInverse = 0x1.71547652b82fep+0, kInverseLow = 0x1.777d0ffda0d24p-56;
  static constexpr double kLog[] = {
      0x1.5555555555558p-2, -0x1.0000000000043p-2, 0x1.9999999998fcfp-3, -0x1.555555554accep-3,
      0x1.24924924e9e23p-3, -0x1.000000050d1b9p-3, 0x1.c71c719c483e3p-4, -0x1.9999971555809p-4,
      0x1.745d1c137ca21p-4, -0x1.5555b2f35f765p-4, 0x1.3b138fec6702dp-4, -0x1.248a02e5640cbp-4,
      0x1.110a837cbb9fep-4, -0x1.0070938e07363p-4, 0x1.e36f616cb6f07p-5, -0x1.c08eb8755c3ecp-5,
      0x1.9c4348bb2e365p-5, -0x1.aaf3ee40c2ee4p-5, 0x1.effec28e18e21p-5, -0x1.b6ab8640626b2p-5,
      0x1.6892088794195p-6};  // error 2^-61.5
};

/// A positive finite x as 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); subnormal x too.
template <template <class> class N, class T>
struct LogParts {
  N<T> k, f;
};

template <template <class> class N, class T>
LogParts<N, T> log_parts(N<T> x) {
  using C = LogConstants<T>;
  constexpr T raise = T(BitsOf<T>(1) << kMantissa<T>);
  auto subnormal = x < std::numeric_limits<T>::min();
  N<BitsOf<T>> pattern = bits(select(subnormal, x * raise, x)) - C::kRoot;
  N<BitsOf<T>> mask = (BitsOf<T>(1) << kMantissa<T>)-1;
  N<T> m = N<T>::from_bits((pattern & mask) + C::kRoot);
  N<T> k = whole_of<N, T>(pattern >> kMantissa<T>);
  return {select(subnormal, k - T(kMantissa<T>), k), m - T(1)};
}

/// log(1 + f) - f.
template <template <class> class N, class T>
N<T> log_tail(N<T> f) {
  N<T> square = f * f;
  return fma(square * f, polynomial_by_parity(f, square, LogConstants<T>::kLog), square * T(-0.5));
}

/// A sum of two numbers that is not carried out, so that nothing of it is rounded away.
template <template <class> class N, class T>
struct TwoParts {
  N<T> high, low;
};

/// log(x + low) for positive finite x, `ratio` = low / x.
template <template <class> class N, class T>
TwoParts<N, T> log_in_two(N<T> x, N<T> ratio) {
  using C = LogConstants<T>;
  auto [k, f] = log_parts(x);
  N<T> whole = k * C::kLn2;
  N<T> high = whole + f, low = f - (high - whole);
  return {high, fma(k, C::kLn2Low, low + log_tail(f)) + ratio};
}
template <template <class> class N, class T>
N<T> log_of(N<T> x, N<T> ratio) {
  auto [high, low] = log_in_two<N, T>(x, ratio);
  return high + low;
}

/// `result` where 0 < x < infinity, else what a logarithm is there. One comparison a choice: of two
/// on the same number LLVM makes a test of its class, which AVX2 has in integers only.
template <template <class> class N, class T>
N<T> log_or_special(N<T> x, N<T> result) {
  return select(x > T(0), select(x < kInfinity<T>, result, x),
                select(x == T(0), N<T>(-kInfinity<T>), N<T>(kNaN<T>)));
}

}  // namespace internal

template <template <class> class N, class T>
N<T> log(N<T> x) {
  using C = internal::LogConstants<T>;
  auto [k, f] = internal::log_parts(x);
  N<T> whole = k * C::kLn2;
  N<T> high = whole + f, low = f - (high - whole);
  return internal::log_or_special(x, high + fma(k, C::kLn2Low, low + internal::log_tail(f)));
}

/// The products of f by 1/ln2 and by itself keep what they round away: near sqrt(2) all roundings
/// would come to 1.1 ulp.
template <template <class> class N, class T>
N<T> log2(N<T> x) {
  using C = internal::LogConstants<T>;
  auto [k, f] = internal::log_parts(x);
  N<T> most = f * C::kInverse, most_lost = fma(f, C::kInverseLow, fma(f, C::kInverse, -most));
  N<T> square_lost = fma(f, f, -(f * f));
  N<T> rest =
      fma(internal::log_tail(f), C::kInverse, fma(square_lost, T(-0.5) * C::kInverse, most_lost));
  N<T> high = k + most, low = most - (high - k);
  return internal::log_or_special(x, high + (low + rest));
}

/// log(u + lost) for the rounded u = 1 + x; what u lost enters as lost / u.
template <template <class> class N, class T>
N<T> log1p(N<T> x) {
  N<T> u = x + T(1);
  N<T> lost = select(x > T(1), T(1) - (u - x), x - (u - T(1)));
  N<T> y = internal::log_or_special(u, internal::log_of(u, lost / u));
  return select(abs(x) < std::numeric_limits<T>::epsilon() / 4, x, y);
}

}  // namespace strata::loop::math
