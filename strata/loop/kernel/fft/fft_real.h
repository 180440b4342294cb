// Transforms from and to real numbers in the last dimension, n of them. An even n uses n / 2
// complex numbers: the even and the odd ones as real and imaginary parts, z.
#pragma once

#include "strata/loop/kernel/fft/fft_line.h"

namespace strata::loop::fft {
namespace {

/// X[k] from a = Z[k] and b = Z[h-k]: E = (a + conj b) / 2, O = -i (a - conj b) / 2, X[k] = E + w
/// O.
template <class V>
STRATA_LANES Lanes<V> real_of_halves(const Lanes<V>& a, const Lanes<V>& b, const typename V::F& wr,
                                     const typename V::F& wi) {
  const typename V::F half = V::all(typename V::N{0.5});
  const typename V::F er = half * (a.re + b.re), ei = half * (a.im - b.im),
                      orr = half * (a.im + b.im), oi = half * (b.re - a.re);
  return {V::fma(wr, orr, V::fma(-wi, oi, er)), V::fma(wr, oi, V::fma(wi, orr, ei))};
}

/// 2 Z[k] from a = X[k] and b = X[h-k]: a + conj b + i (a - conj b) / w.
template <class V>
STRATA_LANES Lanes<V> half_of_real(const Lanes<V>& a, const Lanes<V>& b, const typename V::F& wr,
                                   const typename V::F& wi) {
  const typename V::F sr = a.re + b.re, si = a.im - b.im, dr = a.re - b.re, di = a.im + b.im;
  return {V::fma(wi, dr, V::fma(-wr, di, sr)), V::fma(wr, dr, V::fma(wi, di, si))};
}

/// A line of X from one of Z. Z[h] is Z[0].
template <class V, class Out>
void real_from_halves(const Plan<typename V::N>& plan, Planes<typename V::N> z, Out out) {
  using N = typename V::N;
  std::int64_t h = plan.inner->n, lanes = whole_lanes<N>(h + 1);
  z.put_one(h, z.re[0], z.im[0]);
  for (std::int64_t k = 0; k <= h; k += V::kWidth) {
    Lanes<V> a = z.template get<V>(k), b = z.template get<V>(h - k - V::kWidth + 1);
    b = {V::reversed(b.re), V::reversed(b.im)};
    const Lanes<V> x =
        real_of_halves<V>(a, b, V::load(plan.halves + k), V::load(plan.halves + lanes + k));
    if (k + V::kWidth <= h + 1)
      out.template put<V>(k, x);
    else
      out.template put_first<V>(k, h + 1 - k, x);
  }
}

/// A line of 2 Z from one of X.
template <class V>
void halves_from_real(const Plan<typename V::N>& plan, Planes<typename V::N> x,
                      Planes<typename V::N> z) {
  std::int64_t h = plan.inner->n, lanes = whole_lanes<typename V::N>(h + 1);
  for (std::int64_t k = 0; k < h; k += V::kWidth) {
    Lanes<V> a = x.template get<V>(k), b = x.template get<V>(h - k - V::kWidth + 1);
    b = {V::reversed(b.re), V::reversed(b.im)};
    z.template put<V>(
        k, half_of_real<V>(a, b, V::load(plan.halves + k), V::load(plan.halves + lanes + k)));
  }
}

/// real_from_halves of kLanes lines side by side: h rows -> h + 1 rows.
template <class V>
void real_rows_from_halves(const Plan<typename V::N>& plan, Planes<typename V::N> z,
                           Planes<typename V::N> out) {
  using N = typename V::N;
  const std::int64_t h = plan.inner->n, lanes = whole_lanes<N>(h + 1);
  for (std::int64_t k = 0; k <= h; ++k)
    for (std::int64_t lane = 0; lane < kLanes<N>; lane += V::kWidth) {
      const Lanes<V> a = z.template get<V>((k < h ? k : 0) * kRow<N> + lane),
                     b = z.template get<V>((k > 0 ? h - k : 0) * kRow<N> + lane);
      out.template put<V>(k * kRow<N> + lane, real_of_halves<V>(a, b, V::all(plan.halves[k]),
                                                                V::all(plan.halves[lanes + k])));
    }
}

/// halves_from_real of kLanes lines side by side: h + 1 rows -> h rows.
template <class V>
void halves_from_real_rows(const Plan<typename V::N>& plan, Planes<typename V::N> x,
                           Planes<typename V::N> z) {
  using N = typename V::N;
  const std::int64_t h = plan.inner->n, lanes = whole_lanes<N>(h + 1);
  for (std::int64_t k = 0; k < h; ++k)
    for (std::int64_t lane = 0; lane < kLanes<N>; lane += V::kWidth) {
      const Lanes<V> a = x.template get<V>(k * kRow<N> + lane),
                     b = x.template get<V>((h - k) * kRow<N> + lane);
      z.template put<V>(k * kRow<N> + lane, half_of_real<V>(a, b, V::all(plan.halves[k]),
                                                            V::all(plan.halves[lanes + k])));
    }
}

/// Lines of n real numbers side by side, with imaginary parts of zero.
template <class V>
void reals_to_rows(std::int64_t n, const typename V::N* in, std::int64_t count,
                   typename V::N* rows) {
  using N = typename V::N;
  constexpr std::int64_t kRow = fft::kRow<N>, kWidth = V::kWidth;
  const Starts<N> starts(count, n);
  for (std::int64_t line = 0; line < kLanes<N>; line += kWidth) {
    const std::int64_t* start = starts.at + line;
    for (std::int64_t i = 0; i < n; ++i) V::store(rows + i * kRow + kLanes<N> + line, V::all(0));
    for (std::int64_t i = 0; i < n; i += kWidth) {
      if (i + kWidth > n) {
        if (n < kWidth) {
          for (; i < n; ++i)
            for (std::int64_t l = 0; l < kWidth; ++l) rows[i * kRow + line + l] = in[start[l] + i];
          break;
        }
        i = n - kWidth;  // some of them once more
      }
      typename V::F x[kWidth];
#pragma GCC unroll 16
      for (int l = 0; l < kWidth; ++l) x[l] = V::load(in + start[l] + i);
      V::transpose(x);
#pragma GCC unroll 16
      for (int c = 0; c < kWidth; ++c) V::store(rows + (i + c) * kRow + line, x[c]);
    }
  }
}

/// And the real parts back, divided as `to` says.
template <class V>
void rows_to_reals(std::int64_t n, const typename V::N* rows, const SwappedPairs<typename V::N>& to,
                   typename V::N* out, std::int64_t count) {
  using N = typename V::N;
  constexpr std::int64_t kRow = fft::kRow<N>, kWidth = V::kWidth;
  for (std::int64_t line = 0; line < count; line += kWidth) {
    const std::int64_t some = smaller(kWidth, count - line);
    for (std::int64_t i = 0; i < n; i += kWidth) {
      if (i + kWidth > n) {
        if (n < kWidth) {
          for (; i < n; ++i)
            for (std::int64_t l = 0; l < some; ++l)
              out[(line + l) * n + i] = to.divided(rows[i * kRow + line + l]);
          break;
        }
        i = n - kWidth;
      }
      typename V::F x[kWidth];
#pragma GCC unroll 16
      for (int c = 0; c < kWidth; ++c)
        x[c] = to.template divided<V>(V::load(rows + (i + c) * kRow + line));
      V::transpose(x);
#pragma GCC unroll 16
      for (int l = 0; l < kWidth; ++l)
        if (l < some) V::store(out + (line + l) * n + i, x[l]);
    }
  }
}

/// real_lines of up to kLanes short ones, side by side.
template <class V, class Out>
void small_real_lines(const Plan<typename V::N>& plan, const typename V::N* in, Out out,
                      std::int64_t step, std::int64_t count, Scratch<typename V::N> scratch) {
  using N = typename V::N;
  constexpr std::int64_t kRow = fft::kRow<N>, kLanes = fft::kLanes<N>;
  const std::int64_t n = plan.n, h = n / 2;
  N *rows = scratch.take(n * kRow), *results = rows;
  if (plan.kind == Plan<N>::kReal) {
    lines_to_rows<V>(h, Pairs<N>{const_cast<N*>(in)}, h, count, rows);
    columns<V>(plan.inner->whole, rows_at(rows), kRow, kLanes, rows_at(rows), kRow, kLanes,
               scratch);
    results = scratch.take((h + 1) * kRow);
    real_rows_from_halves<V>(plan, rows_at(rows), rows_at(results));
  } else {
    reals_to_rows<V>(n, in, count, rows);
    columns<V>(plan.whole, rows_at(rows), kRow, kLanes, rows_at(rows), kRow, kLanes, scratch);
  }
  rows_to_lines<V>(h + 1, results, out, step, count);
}

/// Lines of n real numbers -> lines of n / 2 + 1 complex ones, `step` apart.
template <class V, class Out>
void real_lines(const Plan<typename V::N>& plan, const typename V::N* in, Out out,
                std::int64_t step, std::int64_t count, Scratch<typename V::N> scratch) {
  using N = typename V::N;
  const std::int64_t n = plan.n, room = real_room(plan), together = lines_together(plan);
  if (together > 1) {
    for (std::int64_t i = 0; i < count; i += together)
      small_real_lines<V>(plan, in + i * n, out.moved(i * step), step, smaller(together, count - i),
                          scratch);
    return;
  }
  Planes<N> all = scratch.planes(room), z = all.moved(kLanes<N>);
  for (std::int64_t i = 0; i < 2 * room; ++i) all.re[i] = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const N* from = in + i * n;
    if (plan.kind == Plan<N>::kReal) {
      const Pairs<N> pairs{const_cast<N*>(from)};
      out.expect_writes(i * step, (i + 1) * step);
      lines<V>(*plan.inner, pairs, n / 2, z, room, 1, i + 1 < count ? pairs.moved(n / 2) : pairs,
               scratch);
      real_from_halves<V>(plan, z, out.moved(i * step));
      continue;
    }
    for (std::int64_t j = 0; j < n; ++j) z.put_one(j, from[j], 0);
    lines<V>(plan, z, room, z, room, 1, z, scratch);
    copy_line<V>(n / 2 + 1, z, out.moved(i * step));
  }
}

/// real_inverse_lines of up to kLanes short ones, side by side.
template <class V, class In>
void small_real_inverse_lines(const Plan<typename V::N>& plan, In in, std::int64_t step,
                              typename V::N* out, typename V::N size, std::int64_t count,
                              Scratch<typename V::N> scratch) {
  using N = typename V::N;
  constexpr std::int64_t kRow = fft::kRow<N>, kLanes = fft::kLanes<N>;
  const std::int64_t n = plan.n, h = n / 2;
  N *rows = scratch.take((n + 1) * kRow), *results = scratch.take(n * kRow);
  const auto real_row = [&](std::int64_t k) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) rows[k * kRow + kLanes + lane] = 0;
  };
  lines_to_rows<V>(h + 1, in, step, count, rows);
  real_row(0);
  if (plan.kind == Plan<N>::kReal) {
    real_row(h);
    halves_from_real_rows<V>(plan, rows_at(rows), rows_at(results));
    columns<V>(plan.inner->whole, rows_at(results).swapped(), kRow, kLanes, rows_at(results), kRow,
               kLanes, scratch);
    rows_to_lines<V>(h, results, SwappedPairs<N>(out, size), h, count);
    return;
  }
  for (std::int64_t k = 1; k <= h; ++k)
    for (std::int64_t lane = 0; lane < kLanes; ++lane)
      rows_at(rows).put_one((n - k) * kRow + lane, rows[k * kRow + lane],
                            -rows[k * kRow + kLanes + lane]);
  columns<V>(plan.whole, rows_at(rows).swapped(), kRow, kLanes, rows_at(results).swapped(), kRow,
             kLanes, scratch);
  rows_to_reals<V>(n, results, SwappedPairs<N>(out, size), out, count);
}

/// Lines of n / 2 + 1 complex numbers, `step` apart -> lines of n real ones, divided by `size`.
/// Imaginary parts of frequencies that are their own mirror images are not seen.
template <class V, class In>
void real_inverse_lines(const Plan<typename V::N>& plan, In in, std::int64_t step,
                        typename V::N* out, typename V::N size, std::int64_t count,
                        Scratch<typename V::N> scratch) {
  using N = typename V::N;
  const std::int64_t n = plan.n, h = n / 2, line = h + 1, room = real_room(plan),
                     together = lines_together(plan);
  if (together > 1) {
    for (std::int64_t i = 0; i < count; i += together)
      small_real_inverse_lines<V>(plan, in.moved(i * step), step, out + i * n, size,
                                  smaller(together, count - i), scratch);
    return;
  }
  Planes<N> all = scratch.planes(room), one = all.moved(kLanes<N>), z = scratch.planes(room);
  for (std::int64_t i = 0; i < 2 * room; ++i) all.re[i] = 0;
  const SwappedPairs<N> to(out, size);
  for (std::int64_t i = 0; i < count; ++i) {
    in.expect_reads((i + 1) * step, (i + 2 < count ? i + 2 : count) * step);
    copy_line<V>(line, in.moved(i * step), one);
    one.im[0] = 0;
    if (plan.kind == Plan<N>::kReal) {
      one.im[h] = 0;
      halves_from_real<V>(plan, one, z);
      lines<V>(*plan.inner, z.swapped(), room, to.moved(i * h), h, 1, z, scratch);
      continue;
    }
    for (std::int64_t k = 1; k <= h; ++k) one.put_one(n - k, one.re[k], -one.im[k]);
    lines<V>(plan, one.swapped(), room, z.swapped(), room, 1, z, scratch);
    for (std::int64_t j = 0; j < n; ++j) out[i * n + j] = to.divided(z.re[j]);
  }
}

}  // namespace
}  // namespace strata::loop::fft
