// Transforms from and to real numbers in the last dimension, n of them. An even n goes by n / 2 complex numbers: the even and
// the odd ones as real and imaginary parts, z.
#pragma once

#include "strata/loop/kernel/fft_line.h"

namespace strata::loop::fft {
namespace {

/// X[k] from Z: E = (Z[k] + conj Z[h-k]) / 2, O = -i (Z[k] - conj Z[h-k]) / 2, X[k] = E + w^k O. Z[h] is Z[0].
template <class V, class Out>
void real_from_halves(const Plan& plan, Planes z, Out out) {
  std::int64_t h = plan.inner->n, lanes = whole_lanes(h + 1);
  z.put_one(h, z.re[0], z.im[0]);
  typename V::F half = V::all(0.5);
  for (std::int64_t k = 0; k <= h; k += V::kWidth) {
    Lanes<V> a = z.get<V>(k), b = z.get<V>(h - k - V::kWidth + 1);
    b = {V::reversed(b.re), V::reversed(b.im)};
    typename V::F er = half * (a.re + b.re), ei = half * (a.im - b.im), orr = half * (a.im + b.im), oi = half * (b.re - a.re);
    typename V::F wr = V::load(plan.halves + k), wi = V::load(plan.halves + lanes + k);
    Lanes<V> x = {V::fma(wr, orr, V::fma(-wi, oi, er)), V::fma(wr, oi, V::fma(wi, orr, ei))};
    if (k + V::kWidth <= h + 1) {
      out.template put<V>(k, x);
      continue;
    }
    double re[V::kWidth], im[V::kWidth];
    V::store(re, x.re), V::store(im, x.im);
    for (std::int64_t i = 0; k + i <= h; ++i) out.put_one(k + i, re[i], im[i]);
  }
}

/// 2 Z[k] = X[k] + conj X[h-k] + i w^-k (X[k] - conj X[h-k]).
template <class V>
void halves_from_real(const Plan& plan, Planes x, Planes z) {
  std::int64_t h = plan.inner->n, lanes = whole_lanes(h + 1);
  for (std::int64_t k = 0; k < h; k += V::kWidth) {
    Lanes<V> a = x.get<V>(k), b = x.get<V>(h - k - V::kWidth + 1);
    b = {V::reversed(b.re), V::reversed(b.im)};
    typename V::F sr = a.re + b.re, si = a.im - b.im, dr = a.re - b.re, di = a.im + b.im;
    typename V::F wr = V::load(plan.halves + k), wi = V::load(plan.halves + lanes + k);
    z.put<V>(k, Lanes<V>{V::fma(wi, dr, V::fma(-wr, di, sr)), V::fma(wr, dr, V::fma(wi, di, si))});
  }
}

/// Lines of n real numbers -> lines of n / 2 + 1 complex ones, `step` apart.
template <class V, class T, class Out>
void real_lines(const Plan& plan, const T* in, Out out, std::int64_t step, std::int64_t count, Scratch scratch) {
  std::int64_t n = plan.n, line = n / 2 + 1, room = real_room(plan), together = lines_together(plan);
  Planes all = scratch.planes(room * together), z = all.moved(kLanes);
  for (std::int64_t i = 0; i < 2 * room * together; ++i) all.re[i] = 0;
  for (std::int64_t first = 0; first < count; first += together) {
    std::int64_t some = smaller(together, count - first);
    const T* from = in + first * n;
    if (plan.kind == Plan::kReal) {
      Pairs<T> pairs{const_cast<T*>(from)};
      out.expect_writes(first * step, (first + some) * step);
      lines<V>(*plan.inner, pairs, n / 2, z, room, some, first + some < count ? pairs.moved(some * n / 2) : pairs, scratch);
      for (std::int64_t i = 0; i < some; ++i) real_from_halves<V>(plan, z.moved(i * room), out.moved((first + i) * step));
      continue;
    }
    for (std::int64_t i = 0; i < some; ++i)
      for (std::int64_t j = 0; j < n; ++j) z.put_one(i * room + j, from[i * n + j], 0);
    lines<V>(plan, z, room, z, room, some, z, scratch);
    for (std::int64_t i = 0; i < some; ++i) copy_line<V>(line, z.moved(i * room), out.moved((first + i) * step));
  }
}

/// Lines of n / 2 + 1 complex numbers, `step` apart -> lines of n real ones, divided by `size`. Imaginary parts of frequencies that are their
/// own mirror images are not seen.
template <class V, class In, class T>
void real_inverse_lines(const Plan& plan, In in, std::int64_t step, T* out, double size, std::int64_t count, Scratch scratch) {
  std::int64_t n = plan.n, h = n / 2, line = h + 1, room = real_room(plan), together = lines_together(plan);
  Planes x_all = scratch.planes(room * together), x = x_all.moved(kLanes), z = scratch.planes(room * together);
  for (std::int64_t i = 0; i < 2 * room * together; ++i) x_all.re[i] = 0;
  SwappedPairs<T> to(out, size);
  for (std::int64_t first = 0; first < count; first += together) {
    std::int64_t some = smaller(together, count - first);
    for (std::int64_t i = 0; i < some; ++i) {
      Planes one = x.moved(i * room);
      in.expect_reads((first + i + 1) * step, (first + i + 2 < count ? first + i + 2 : count) * step);
      copy_line<V>(line, in.moved((first + i) * step), one);
      one.im[0] = 0;
      if (plan.kind == Plan::kReal) {
        one.im[h] = 0;
        halves_from_real<V>(plan, one, z.moved(i * room));
      } else {
        for (std::int64_t k = 1; k <= h; ++k) one.put_one(n - k, one.re[k], -one.im[k]);
      }
    }
    if (plan.kind == Plan::kReal) {
      lines<V>(*plan.inner, z.swapped(), room, to.moved(first * h), h, some, z, scratch);
      continue;
    }
    lines<V>(plan, x.swapped(), room, z.swapped(), room, some, z, scratch);
    for (std::int64_t i = 0; i < some; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        out[(first + i) * n + j] = static_cast<T>(to.quotient ? z.re[i * room + j] / size : z.re[i * room + j] * to.scale);
  }
}

}  // namespace
}  // namespace strata::loop::fft
