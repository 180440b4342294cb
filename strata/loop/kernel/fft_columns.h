// Transforms of kLanes columns side by side, pass by pass (fft_plan.h). Row i of an array In or Out is its numbers i * stride on.
#pragma once

#include "strata/loop/kernel/fft_butterfly.h"

namespace strata::loop::fft {
namespace {

/// x, of which the compiler knows nothing: else it keeps an address in a variable of its own for each number of a butterfly.
STRATA_LANES std::int64_t plain(std::int64_t x) {
  asm("" : "+r"(x));
  return x;
}

/// Block q of a pass; q = 0 is not turned.
template <class V, int R, bool kTurned, class In, class Out>
STRATA_LANES void pass_block(const Pass& p, std::int64_t q, const In& in, std::int64_t in_stride, const Out& out, std::int64_t out_stride) {
  const int radix = R == 0 ? p.radix : R;
  const double* turns = p.turns + 2 * q * (radix - 1);
  const std::int64_t s = p.s, in_step = s * p.m * in_stride, out_step = s * out_stride;
  std::int64_t from = s * q * in_stride, to = s * radix * q * out_stride;
  for (std::int64_t r = 0; r < s; ++r, from += in_stride, to += out_stride)
    for (std::int64_t lane = 0; lane < kLanes; lane += V::kWidth) {
      Lanes<V> x[R == 0 ? kLargestRadix : R];
      std::int64_t at = from + lane;
#pragma GCC unroll 8
      for (int j = 0; j < radix; ++j, at = plain(at + in_step)) x[j] = in.template get<V>(at);
      butterfly<V, R>(x, p);
      at = to + lane;
#pragma GCC unroll 8
      for (int k = 0; k < radix; ++k, at = plain(at + out_step)) {
        if (kTurned && k > 0) x[k] = times<V>(x[k], V::all(turns[2 * k - 2]), V::all(turns[2 * k - 1]));
        out.template put<V>(at, x[k]);
      }
    }
}

template <class V, int R, class In, class Out>
[[gnu::noinline]] void pass_of(const Pass& p, In in, std::int64_t in_stride, Out out, std::int64_t out_stride) {
  pass_block<V, R, false>(p, 0, in, in_stride, out, out_stride);
  for (std::int64_t q = 1; q < p.m; ++q) pass_block<V, R, true>(p, q, in, in_stride, out, out_stride);
}

template <class V, class In, class Out>
void run_pass(const Pass& p, In in, std::int64_t in_stride, Out out, std::int64_t out_stride) {
  switch (p.radix) {
    case 2: return pass_of<V, 2>(p, in, in_stride, out, out_stride);
    case 3: return pass_of<V, 3>(p, in, in_stride, out, out_stride);
    case 4: return pass_of<V, 4>(p, in, in_stride, out, out_stride);
    case 5: return pass_of<V, 5>(p, in, in_stride, out, out_stride);
    case 8: return pass_of<V, 8>(p, in, in_stride, out, out_stride);
    default: return pass_of<V, 0>(p, in, in_stride, out, out_stride);
  }
}

template <class In>
void rows_from(std::int64_t n, In in, std::int64_t stride, std::int64_t width, double* rows) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      double x = 0, y = 0;
      if (lane < width) in.get_one(i * stride + lane, x, y);
      rows_at(rows).put_one(i * kRow + lane, x, y);
    }
}

template <class Out>
void rows_to(std::int64_t n, const double* rows, Out out, std::int64_t stride, std::int64_t width) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t lane = 0; lane < width; ++lane) out.put_one(i * stride + lane, rows[i * kRow + lane], rows[i * kRow + kLanes + lane]);
}

/// `in_width` and `out_width` columns (at most kLanes) are there. `in` may be `out`. Takes 3 n rows of scratch.
template <class V, class In, class Out>
void columns(const Passes& passes, In in, std::int64_t in_stride, std::int64_t in_width, Out out, std::int64_t out_stride,
             std::int64_t out_width, Scratch scratch) {
  std::int64_t n = passes.n;
  double *a = scratch.take(n * kRow), *b = scratch.take(n * kRow), *c = scratch.take(n * kRow);
  int last = passes.count - 1;
  if (last == 0 && in_width == kLanes && out_width == kLanes) return run_pass<V>(passes.pass[0], in, in_stride, out, out_stride);
  if (last < 1 || in_width < kLanes) rows_from(n, in, in_stride, in_width, c);
  if (last < 0) return rows_to(n, c, out, out_stride, out_width);
  if (last == 0)
    a = c;
  else if (in_width < kLanes)
    run_pass<V>(passes.pass[0], rows_at(c), kRow, rows_at(a), kRow);
  else
    run_pass<V>(passes.pass[0], in, in_stride, rows_at(a), kRow);
  for (int i = 1; i < last; ++i) {
    run_pass<V>(passes.pass[i], rows_at(a), kRow, rows_at(b), kRow);
    double* next = b;
    b = a, a = next;
  }
  if (out_width == kLanes) return run_pass<V>(passes.pass[last], rows_at(a), kRow, out, out_stride);
  run_pass<V>(passes.pass[last], rows_at(a), kRow, rows_at(b), kRow);
  rows_to(n, b, out, out_stride, out_width);
}

}  // namespace
}  // namespace strata::loop::fft
