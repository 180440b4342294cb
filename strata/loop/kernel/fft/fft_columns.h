// Transforms of kLanes columns side by side, pass by pass (fft_plan.h). Row i of an array In or Out
// is its numbers i * stride on.
#pragma once

#include "strata/loop/kernel/fft/fft_butterfly.h"

namespace strata::loop::fft {
namespace {

/// x, of which the compiler knows nothing: else it keeps an address in a variable of its own for
/// each number of a butterfly.
STRATA_LANES std::int64_t plain(std::int64_t x) {
  asm("" : "+r"(x));
  return x;
}

/// Butterflies of a pass: `blocks` times `count` of them, block by block. Numbers of one are `step`
/// apart, neighbours `stride`, blocks `block`.
template <class N>
struct Walk {
  std::int64_t blocks, plain, count;  // the first `plain` blocks are not turned
  const N* turns;
  std::int64_t turns_block;
  std::int64_t in_block, in_stride, in_step, out_block, out_stride, out_step;
};

template <class V, int R, bool kTurned, class In, class Out>
STRATA_LANES void walk_block(const Pass<typename V::N>& p, const Walk<typename V::N>& w,
                             std::int64_t block, const In& in, const Out& out) {
  const int radix = R == 0 ? p.radix : R;
  const typename V::N* turns = w.turns + block * w.turns_block;
  const std::int64_t in_step = w.in_step, out_step = w.out_step;
  std::int64_t from = block * w.in_block, to = block * w.out_block;
  for (std::int64_t r = 0; r < w.count; ++r, from += w.in_stride, to += w.out_stride)
    for (std::int64_t lane = 0; lane < kLanes<typename V::N>; lane += V::kWidth) {
      Lanes<V> x[R == 0 ? kLargestRadix : R];
      std::int64_t at = from + lane;
#pragma GCC unroll 8
      for (int j = 0; j < radix; ++j, at = plain(at + in_step)) x[j] = in.template get<V>(at);
      butterfly<V, R>(x, p);
      at = to + lane;
#pragma GCC unroll 8
      for (int k = 0; k < radix; ++k, at = plain(at + out_step)) {
        if (kTurned && k > 0)
          x[k] = times<V>(x[k], V::all(turns[2 * k - 2]), V::all(turns[2 * k - 1]));
        out.template put<V>(at, x[k]);
      }
    }
}

template <class V, int R, class In, class Out>
[[gnu::noinline]] void walk_of(const Pass<typename V::N>& p, const Walk<typename V::N>& w, In in,
                               Out out) {
  std::int64_t block = 0;
  for (; block < w.plain; ++block) walk_block<V, R, false>(p, w, block, in, out);
  for (; block < w.blocks; ++block) walk_block<V, R, true>(p, w, block, in, out);
}

/// Whether passes of a radix read and write an `Array` itself. Of planes all do; of others those
/// that are common, in code for vectors: the rest is copied, for this code is most of what a
/// program holds that transforms anything.
template <class V, class Array>
bool reaches(int radix) {
  if (std::is_same_v<Array, Planes<typename V::N>>) return true;
  return V::kWidth > 1 && (radix <= 5 || radix == 8);
}

template <class V, class In, class Out>
void run_walk(const Pass<typename V::N>& p, const Walk<typename V::N>& w, In in, Out out) {
  using Rows = Planes<typename V::N>;
  constexpr bool kOfPlanes = std::is_same_v<In, Rows> && std::is_same_v<Out, Rows>;
  if constexpr (kOfPlanes || V::kWidth > 1) switch (p.radix) {
      case 2: return walk_of<V, 2>(p, w, in, out);
      case 3: return walk_of<V, 3>(p, w, in, out);
      case 4: return walk_of<V, 4>(p, w, in, out);
      case 5: return walk_of<V, 5>(p, w, in, out);
      case 8: return walk_of<V, 8>(p, w, in, out);
      default:
        if constexpr (kOfPlanes) return walk_of<V, 0>(p, w, in, out);
    }
  __builtin_unreachable();
}

template <class V, class In, class Out>
void run_pass(const Pass<typename V::N>& p, In in, std::int64_t in_stride, Out out,
              std::int64_t out_stride) {
  const std::int64_t s = p.s;
  run_walk<V>(p,
              {p.m, 1, s, p.turns, 2 * (p.radix - 1), s * in_stride, in_stride, s * p.m * in_stride,
               s * p.radix * out_stride, out_stride, s * out_stride},
              in, out);
}

/// Numbers that are this far apart are fetched before they are written: the processor does not
/// foresee them.
constexpr std::int64_t kFar = 512;

/// Columns that the first cache holds twice.
constexpr std::int64_t kInFirstCache = 128;

/// Two passes, a few rows at a time: what is between them stays in the first cache. With `ahead`,
/// those rows that many numbers on are fetched.
template <class V, class In, class Out>
void run_two(const Pass<typename V::N>& p, const Pass<typename V::N>& next, In in,
             std::int64_t in_stride, Out out, std::int64_t out_stride, typename V::N* between,
             std::int64_t ahead) {
  constexpr std::int64_t kRow = fft::kRow<typename V::N>;
  const std::int64_t s = p.s, m = next.m, radix = p.radix, by = next.radix;
  const std::int64_t some = rows_between(radix * by, s);
  for (std::int64_t q = 0; q < m; ++q)
    for (std::int64_t r = 0; r < s; r += some) {
      const std::int64_t count = smaller(some, s - r);
      const In from = in.moved((r + s * q) * in_stride);
      if (ahead != 0)
        for (std::int64_t i = 0; i < radix * by; ++i)
          for (std::int64_t j = 0; j < count; ++j)
            from.expect_get(ahead + (i * s * m + j) * in_stride);
      const Out to = out.moved((r + s * radix * by * q) * out_stride);
      if (out_stride >= kFar)
        for (std::int64_t i = 0; i < radix * by; ++i)
          for (std::int64_t j = 0; j < count; ++j) to.expect_put((i * s + j) * out_stride);
      run_walk<V>(
          p,
          {by, q == 0, count, p.turns + 2 * q * (radix - 1), 2 * m * (radix - 1), s * m * in_stride,
           in_stride, s * p.m * in_stride, count * radix * kRow, kRow, count * kRow},
          from, rows_at(between));
      run_walk<V>(next,
                  {radix, q == 0 ? radix : 0, count, next.turns + 2 * q * (by - 1), 0, count * kRow,
                   kRow, count * radix * kRow, s * out_stride, out_stride, s * radix * out_stride},
                  rows_at(between), to);
    }
}

/// `width` columns of `in`, and zeros beside them.
template <class V, class In>
void rows_from(std::int64_t n, In in, std::int64_t stride, std::int64_t width,
               typename V::N* rows) {
  using N = typename V::N;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t lane = 0; lane < kLanes<N>; lane += V::kWidth)
      rows_at(rows).template put<V>(i * kRow<N> + lane,
                                    in.template get_first<V>(i * stride + lane, width - lane));
}

template <class V, class Out>
void rows_to(std::int64_t n, const typename V::N* rows, Out out, std::int64_t stride,
             std::int64_t width) {
  using N = typename V::N;
  const Planes<N> in = rows_at(const_cast<N*>(rows));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t lane = 0; lane < width; lane += V::kWidth)
      out.template put_first<V>(i * stride + lane, width - lane,
                                in.template get<V>(i * kRow<N> + lane));
}

/// `in_width` and `out_width` columns (at most kLanes) are there. `in` may be `out`. Takes 4 n rows
/// of scratch. What is `ahead` numbers on is read next.
template <class V, class In, class Out>
void columns(const Passes<typename V::N>& passes, In in, std::int64_t in_stride,
             std::int64_t in_width, Out out, std::int64_t out_stride, std::int64_t out_width,
             Scratch<typename V::N> scratch, std::int64_t ahead = 0) {
  using N = typename V::N;
  constexpr std::int64_t kRow = fft::kRow<N>, kLanes = fft::kLanes<N>;
  const std::int64_t n = passes.n;
  N *a = scratch.take(n * kRow), *b = scratch.take(n * kRow), *c = scratch.take(n * kRow),
    *between = scratch.take(n * kRow);
  const bool reads = passes.count > 0 && in_width == kLanes && reaches<V, In>(passes.pass[0].radix);
  const bool writes = passes.count > 0 && out_width == kLanes &&
                      reaches<V, Out>(passes.pass[passes.count - 1].radix);
  if (!reads) rows_from<V>(n, in, in_stride, in_width, c);
  if (passes.count == 0) return rows_to<V>(n, c, out, out_stride, out_width);
  constexpr bool kMayTakeTwo = V::kWidth > 1;  // code that any processor runs is kept small
  const bool long_ones = kMayTakeTwo && (n > kInFirstCache || ahead != 0);
  const auto from_to = [&](int i, int some, const auto& from, std::int64_t from_stride,
                           const auto& to, std::int64_t to_stride, std::int64_t expected) {
    if constexpr (kMayTakeTwo) {
      if (some == 2)
        return run_two<V>(passes.pass[i], passes.pass[i + 1], from, from_stride, to, to_stride,
                          between, expected);
    }
    run_pass<V>(passes.pass[i], from, from_stride, to, to_stride);
  };
  for (int i = 0, some; i < passes.count; i += some) {
    some = long_ones && i + 1 < passes.count ? 2 : 1;
    const bool direct = i == 0 && reads;
    N* from = i == 0 ? c : a;
    if (i + some == passes.count && writes) {
      if (direct) return from_to(i, some, in, in_stride, out, out_stride, ahead);
      return from_to(i, some, rows_at(from), kRow, out, out_stride, 0);
    }
    if (direct)
      from_to(i, some, in, in_stride, rows_at(b), kRow, ahead);
    else
      from_to(i, some, rows_at(from), kRow, rows_at(b), kRow, 0);
    N* next = b;
    b = a, a = next;
  }
  rows_to<V>(n, a, out, out_stride, out_width);
}

}  // namespace
}  // namespace strata::loop::fft
