// Hurwitz's zeta function, and polygamma, which is a multiple of it.
//
// By Euler's and Maclaurin's formula: the first `kCount` terms of the sum, an integral for the
// rest, and corrections. All are taken relative to the first term, as (1 + j/q)^-s, so that only
// q^-s can leave the range, and only that needs a logarithm of twice the precision. In f64
// throughout.
#pragma once

#include "strata/loop/math/gamma.h"
#include "strata/loop/math/power.h"

namespace strata::loop::math {
namespace internal {

/// B(2k) / (2k)! for k = 1, 2, ...
template <class T>
struct ZetaConstants;
template <>
struct ZetaConstants<float> {
  static constexpr int kCount = 5;
  static constexpr double kCorrections[] = {
      0x1.5555555555555p-4,  -0x1.6c16c16c16c17p-10, 0x1.1566abc011567p-15, -0x1.bbd779334ef0bp-21,
      0x1.66a8f2bf70ebep-26, -0x1.22805d644267fp-31, 0x1.d6db2c4e09162p-37, -0x1.7da4e1f79955cp-42};
};
template <>
struct ZetaConstants<double> {
  static constexpr int kCount = 10;
  static constexpr double kCorrections[] = {
      0x1.5555555555555p-4,  -0x1.6c16c16c16c17p-10, 0x1.1566abc011567p-15, -0x1.bbd779334ef0bp-21,
      0x1.66a8f2bf70ebep-26, -0x1.22805d644267fp-31, 0x1.d6db2c4e09162p-37, -0x1.7da4e1f79955cp-42,
      0x1.355871d652e9ep-47, -0x1.f57d968caacf1p-53, 0x1.967e1f09c376fp-58, -0x1.497d9033a2b5cp-63};
};

/// log(1 + t) for t > 0.
template <template <class> class N>
N<double> log_above_one(N<double> t) {
  N<double> u = t + 1.0;
  return log_of(u, select(t < 1.0, t - (u - 1.0), N<double>(0.0)));
}

/// 2^`more` times the sum of (q + j)^-s for s > 1, q > 0.
template <template <class> class N, class T>
N<double> zeta_right(N<double> s, N<double> q, TwoParts<N, double> more) {
  using C = ZetaConstants<T>;
  // q^(1 - s) before all else if q > 1, q^-s otherwise: neither leaves the range before the sum
  // does.
  N<double> inverse = 1.0 / q;
  auto large = q > 1.0;
  N<double> first = select(large, inverse, N<double>(1.0));
  N<double> sum(0.0);
  for (int j = C::kCount; j-- > 1;) sum = sum + exp(-s * log_above_one<N>(inverse * double(j)));
  N<double> growth = log_above_one<N>(inverse * double(C::kCount)), last = exp(-s * growth);
  N<double> integral = exp((1.0 - s) * growth) * select(large, N<double>(1.0), q) / (s - 1.0);
  N<double> down = 1.0 / (q + double(C::kCount)), square = down * down;
  constexpr int terms = std::size(C::kCorrections);
  N<double> corrections(C::kCorrections[terms - 1]);
  for (int k = terms - 1; k-- > 0;)
    corrections = fma(corrections, (s + double(2 * k + 1)) * (s + double(2 * k + 2)) * square,
                      N<double>(C::kCorrections[k]));
  N<double> rest = fma(s * down, corrections, 0.5) * last;
  sum = fma(sum + select(last > 0.0, rest, N<double>(0.0)), first, integral) + first;

  auto [log, log_low] = log2_in_two<N>(q);
  N<double> exponent =
      select(q == 1.0, N<double>(0.0), select(large, 1.0 - s, -s));  // s may be infinite
  N<double> product = exponent * log;
  N<double> product_low = fma(exponent, log, -product) + exponent * log_low;
  auto [power, power_low] = sum_in_two<N>(more.high, product);
  N<double> scale = exp2_of_two<N>(power, power_low + (product_low + more.low));
  return select(q < kInfinity<double>, sum * scale, N<double>(0.0));
}

/// The same for every q: the terms of negative base, (-1)^s times those between b and |q|, and the
/// others, from 1 - b on.
template <template <class> class N, class T>
N<double> zeta_scaled(N<double> s, N<double> q, TwoParts<N, double> more) {
  auto left = q < 0.0;
  N<double> a = abs(q);
  N<double> usual = zeta_right<N, T>(s, a, more);
  N<double> y = rarely(left, usual, [&] {
    N<double> b = a - floor(a);
    N<double> among = zeta_right<N, T>(s, b, more) - zeta_right<N, T>(s, a + 1.0, more);
    return zeta_right<N, T>(s, 1.0 - b, more) + select(rint(s * 0.5) * 2.0 == s, among, -among);
  });
  // At the poles the sides agree for even s only.
  auto even = rint(s * 0.5) * 2.0 == s;
  auto pole = (q <= 0.0) & (rint(q) == q);
  N<double> at_pole = select(even, N<double>(kInfinity<double>), N<double>(kNaN<double>));
  return select(pole, at_pole, select(left & (rint(s) != s), N<double>(kNaN<double>), y));
}

/// log2 Gamma(s) for s = 2, 3, 4 ...
template <template <class> class N, class T>
TwoParts<N, double> log2_gamma(N<double> s) {
  static constexpr double kLog2E = 0x1.71547652b82fep+0, kLog2ELow = 0x1.777d0ffda0d24p-56;
  static constexpr double kHalf = 0x1.536439a4c6efcp+0,
                          kHalfLow = -0x1.49e49a361efebp-54;  // log2(2 pi) / 2
  auto [log, log_low] = log2_in_two<N>(s);
  N<double> inverse = 1.0 / s, w = s - 0.5;
  N<double> stirling = inverse * polynomial(inverse * inverse, GammaConstants<T>::kFar) * kLog2E;
  N<double> a = w * log, a_low = fma(w, log, -a) + w * log_low;
  N<double> b = s * kLog2E, b_low = fma(s, kLog2E, -b) + s * kLog2ELow;
  auto [difference, lost] = sum_in_two<N>(a, -b);
  auto [sum, sum_low] = sum_in_two<N>(difference, N<double>(kHalf));
  auto small = s < 4.0;
  return {
      select(small, s - 2.0, sum),
      select(small, N<double>(0.0), sum_low + (lost + (a_low - b_low) + (stirling + kHalfLow)))};
}

}  // namespace internal

/// Of s < 1 NaN. Of q <= 0 NaN unless s is whole.
template <template <class> class N, class T>
N<T> zeta(N<T> order, N<T> offset) {
  N<double> s = N<double>::convert(order), q = N<double>::convert(offset);
  N<double> zero(0.0);
  N<double> y = internal::zeta_scaled<N, T>(s, q, {zero, zero});
  y = select(s < 1.0, N<double>(kNaN<double>), select(s == 1.0, N<double>(kInfinity<double>), y));
  return N<T>::convert(select((s != s) | (q != q), s + q, y));
}

/// (-1)^(n+1) n! zeta(n + 1, x); digamma for n = 0; NaN unless n = 0, 1, 2 ...
template <template <class> class N, class T>
N<T> polygamma(N<T> order, N<T> offset) {
  N<double> n = N<double>::convert(order), x = N<double>::convert(offset);
  auto positive = (n > 0.0) & (rint(n) == n);
  N<double> s = select(positive, n + 1.0, N<double>(2.0));
  N<double> y = internal::zeta_scaled<N, T>(s, x, internal::log2_gamma<N, T>(s));
  y = select(rint(s * 0.5) * 2.0 == s, y, -y);
  N<double> natural = select(n == 0.0, N<double>::convert(digamma(offset)),
                             select(positive, y, N<double>(kNaN<double>)));
  return N<T>::convert(select((n != n) | (x != x), n + x, natural));
}

}  // namespace strata::loop::math
