// Numbers in the lanes of small_lanes.h: vectors of doubles, and pairs of them for complex numbers,
// which compute what the plain kernels' complex numbers do.
//
// Included by small_lanes.h alone, as it is compiled once for each instruction set.
#pragma once

#include "strata/loop/kernel/linalg/small.h"

namespace strata::loop::small {
namespace {

#define STRATA_SMALL inline __attribute__((always_inline))

template <class L>
STRATA_SMALL typename L::F all(double x) {
  return x - typename L::F{};
}

template <class L>
struct Pair;
template <class L>
Pair<L> quotient(const Pair<L>& x, const Pair<L>& y);

template <class L>
struct Pair {
  using F = typename L::F;
  F re, im;

  Pair() = default;
  STRATA_SMALL Pair(F re, F im) : re(re), im(im) {}
  // By parts: the compiler's copies of the whole use halves of vectors, which loads of vectors
  // wait for.
  STRATA_SMALL Pair(const Pair& x) : re(x.re), im(x.im) {}
  STRATA_SMALL Pair& operator=(const Pair& x) {
    re = x.re, im = x.im;
    return *this;
  }
  STRATA_SMALL Pair& operator-=(const Pair& x) {
    re -= x.re, im -= x.im;
    return *this;
  }
  friend STRATA_SMALL Pair operator-(const Pair& x, const Pair& y) {
    return {x.re - y.re, x.im - y.im};
  }
  /// As factor::times.
  friend STRATA_SMALL Pair operator*(const Pair& x, const Pair& y) {
    return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
  }
  friend STRATA_SMALL Pair operator/(const Pair& x, const F& y) { return {x.re / y, x.im / y}; }
  friend STRATA_SMALL Pair operator/(const Pair& x, const Pair& y) { return quotient(x, y); }
};

template <class F>
STRATA_SMALL F size_of(const F& x) {
  return x < F{} ? -x : x;
}
template <class L>
STRATA_SMALL typename L::F size_of(const Pair<L>& x) {
  return size_of(x.re) + size_of(x.im);
}

/// Far from where products and quotients of two are no normal numbers.
template <class L>
STRATA_SMALL typename L::Mask is_moderate(const typename L::F& x) {
  return (size_of(x) > all<L>(0x1p-200)) & (size_of(x) < all<L>(0x1p+200));
}
/// What std::complex divides to. Moderate numbers are divided by Smith's formula (1962) there,
/// others scaled and mended.
template <class L>
STRATA_SMALL Pair<L> quotient(const Pair<L>& x, const Pair<L>& y) {
  using F = typename L::F;
  const typename L::Mask swapped = size_of(y.re) < size_of(y.im), zero_re = x.re == F{},
                         zero_im = x.im == F{};
  const F most = swapped ? y.im : y.re, least = swapped ? y.re : y.im, r = least / most,
          scale = least * r + most;
  const typename L::Mask fine = (is_moderate<L>(x.re) | zero_re) &
                                (is_moderate<L>(x.im) | zero_im) & is_moderate<L>(most) &
                                is_moderate<L>(r);
  Pair<L> out{((swapped ? x.re : x.im) * r + (swapped ? x.im : x.re)) / scale,
              (swapped ? x.im * r - x.re : x.im - x.re * r) / scale};
  if (L::any(~fine))
    for (int l = 0; l < L::kWidth; ++l) {
      const std::complex<double> q =
          std::complex<double>(x.re[l], x.im[l]) / std::complex<double>(y.re[l], y.im[l]);
      out.re[l] = q.real(), out.im[l] = q.imag();
    }
  return out;
}

/// What lanes hold of elements of type T.
template <class L, class T>
using Number =
    std::conditional_t<factor::is_complex<std::remove_const_t<T>>, Pair<L>, typename L::F>;

template <class L, class T>
STRATA_SMALL Number<L, T> constant(double x) {
  if constexpr (factor::is_complex<T>)
    return {all<L>(x), all<L>(0)};
  else
    return all<L>(x);
}
template <class L, class W>
STRATA_SMALL void set_lane(Pair<L>& to, int lane, const W& x) {
  to.re[lane] = x.real(), to.im[lane] = x.imag();
}
template <class F>
STRATA_SMALL void set_lane(F& to, int lane, double x) {
  to[lane] = x;
}
template <class L>
STRATA_SMALL std::complex<double> lane_of(const Pair<L>& x, std::int64_t lane) {
  return {x.re[lane], x.im[lane]};
}
template <class F>
STRATA_SMALL double lane_of(const F& x, std::int64_t lane) {
  return x[lane];
}

template <class L>
STRATA_SMALL Pair<L> conjugate(const Pair<L>& x) {
  return {x.re, -x.im};
}
template <class F>
STRATA_SMALL F conjugate(const F& x) {
  return x;
}
template <class L>
STRATA_SMALL typename L::F real_part(const Pair<L>& x) {
  return x.re;
}
template <class F>
STRATA_SMALL F real_part(const F& x) {
  return x;
}

/// x with this real part and no imaginary one.
template <class L>
STRATA_SMALL Pair<L> only_real(const Pair<L>&, const typename L::F& re) {
  return {re, all<L>(0)};
}
template <class F>
STRATA_SMALL F only_real(const F&, const F& re) {
  return re;
}

template <class L>
STRATA_SMALL typename L::Mask is_zero(const typename L::F& x) {
  return x == typename L::F{};
}
template <class L>
STRATA_SMALL typename L::Mask is_zero(const Pair<L>& x) {
  return is_zero<L>(x.re) & is_zero<L>(x.im);
}
template <class Mask, class F>
STRATA_SMALL F pick(const Mask& mask, const F& x, const F& y) {
  return mask ? x : y;
}
template <class Mask, class L>
STRATA_SMALL Pair<L> pick(const Mask& mask, const Pair<L>& x, const Pair<L>& y) {
  return {mask ? x.re : y.re, mask ? x.im : y.im};
}

}  // namespace
}  // namespace strata::loop::small
