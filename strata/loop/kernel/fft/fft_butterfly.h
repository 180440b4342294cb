// The smallest transforms, in place: x[k] becomes the sum over j of x[j] exp(-2 pi i jk / R).
#pragma once

#include "strata/loop/kernel/fft/fft_lanes.h"

namespace strata::loop::fft {
namespace {

template <class V>
STRATA_LANES void butterfly2(Lanes<V>& a, Lanes<V>& b) {
  Lanes<V> sum = a + b;
  b = a - b;
  a = sum;
}

template <class V>
STRATA_LANES void butterfly4(Lanes<V>& x0, Lanes<V>& x1, Lanes<V>& x2, Lanes<V>& x3) {
  Lanes<V> a = x0 + x2, b = x0 - x2, c = x1 + x3, d = turned<V>(x1 - x3);
  x0 = a + c;
  x1 = b + d;
  x2 = a - c;
  x3 = b - d;
}

/// Two of four; the odd ones are turned by an eighth of the circle each.
template <class V>
STRATA_LANES void butterfly8(Lanes<V>* x) {
  butterfly4<V>(x[0], x[2], x[4], x[6]);
  butterfly4<V>(x[1], x[3], x[5], x[7]);
  Lanes<V> e0 = x[0], e1 = x[2], e2 = x[4], e3 = x[6], o0 = x[1], o1 = x[3], o2 = turned<V>(x[5]),
           o3 = x[7];
  typename V::F c = V::all(static_cast<typename V::N>(0.70710678118654752440)),
                sum1 = o1.re + o1.im, rest1 = o1.im - o1.re, sum3 = o3.re + o3.im,
                rest3 = o3.im - o3.re;
  x[0] = e0 + o0;
  x[4] = e0 - o0;
  x[1] = {V::fma(c, sum1, e1.re), V::fma(c, rest1, e1.im)};
  x[5] = {V::fma(-c, sum1, e1.re), V::fma(-c, rest1, e1.im)};
  x[2] = e2 + o2;
  x[6] = e2 - o2;
  x[3] = {V::fma(c, rest3, e3.re), V::fma(-c, sum3, e3.im)};
  x[7] = {V::fma(-c, rest3, e3.re), V::fma(c, sum3, e3.im)};
}

/// Results k .. k + kSome - 1 of an odd radix and those that mirror them, by the sums and
/// differences of mirrored pairs: cosines of the ones meet sines of the others.
template <class V, int kSome>
STRATA_LANES void mirrored(Lanes<V>* x, int radix, const typename V::N* roots, int k,
                           const Lanes<V>& first, const Lanes<V>* sum, const Lanes<V>* rest) {
  Lanes<V> even[kSome], odd[kSome];
  int turn[kSome];
#pragma GCC unroll 2
  for (int i = 0; i < kSome; ++i) even[i] = first, odd[i] = {V::all(0), V::all(0)}, turn[i] = k + i;
#pragma GCC unroll 2
  for (int j = 0; j < radix / 2; ++j) {
    const Lanes<V> s = sum[j], r = rest[j];
#pragma GCC unroll 2
    for (int i = 0; i < kSome; ++i) {
      const typename V::F cosine = V::all(roots[2 * turn[i]]),
                          sine = V::all(roots[2 * turn[i] + 1]);
      even[i] = {V::fma(s.re, cosine, even[i].re), V::fma(s.im, cosine, even[i].im)};
      odd[i] = {V::fma(r.re, sine, odd[i].re), V::fma(r.im, sine, odd[i].im)};
      turn[i] += turn[i] + k + i < radix ? k + i : k + i - radix;
    }
  }
#pragma GCC unroll 2
  for (int i = 0; i < kSome; ++i) {
    x[k + i] = {even[i].re - odd[i].im, even[i].im + odd[i].re};
    x[radix - k - i] = {even[i].re + odd[i].im, even[i].im - odd[i].re};
  }
}

/// `roots`: exp(-2 pi i t / R).
template <class V>
STRATA_LANES void butterfly_odd(Lanes<V>* x, int radix, const typename V::N* roots) {
  Lanes<V> sum[kLargestRadix / 2], rest[kLargestRadix / 2], first = x[0];
  int half = radix / 2;
#pragma GCC unroll 3
  for (int j = 0; j < half; ++j) {
    sum[j] = x[j + 1] + x[radix - 1 - j];
    rest[j] = x[j + 1] - x[radix - 1 - j];
    x[0] = x[0] + sum[j];
  }
  int k = 1;
  if (V::kWidth > 1 && radix > 5)  // code that any processor runs is kept small
    for (; k < half; k += 2) mirrored<V, 2>(x, radix, roots, k, first, sum, rest);
  for (; k <= half; ++k) mirrored<V, 1>(x, radix, roots, k, first, sum, rest);
}

/// Once for all passes of the larger radices, which are long.
template <class V>
[[gnu::noinline]] void butterfly_any(Lanes<V>* x, int radix, const typename V::N* roots) {
  butterfly_odd<V>(x, radix, roots);
}

/// R = 0: any odd radix.
template <class V, int R>
STRATA_LANES void butterfly(Lanes<V>* x, const Pass<typename V::N>& pass) {
  if constexpr (R == 2)
    butterfly2<V>(x[0], x[1]);
  else if constexpr (R == 4)
    butterfly4<V>(x[0], x[1], x[2], x[3]);
  else if constexpr (R == 8)
    butterfly8<V>(x);
  else if constexpr (R == 0)
    butterfly_any<V>(x, pass.radix, pass.roots);
  else
    butterfly_odd<V>(x, R, pass.roots);
}

}  // namespace
}  // namespace strata::loop::fft
