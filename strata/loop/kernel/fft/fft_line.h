// Transforms of lines by their plans.
#pragma once

#include "strata/loop/kernel/fft/fft_columns.h"

namespace strata::loop::fft {
namespace {

/// Copies n numbers.
template <class V, class In, class Out>
void copy_line(std::int64_t n, In in, Out out) {
  std::int64_t i = 0;
  for (; i + V::kWidth <= n; i += V::kWidth) out.template put<V>(i, in.template get<V>(i));
  if (i < n) out.template put_first<V>(i, n - i, in.template get_first<V>(i, n - i));
}

/// kLanes columns of the first transforms, each number turned by the twist, become rows of the
/// second ones' blocks.
template <class V>
void twisted_and_transposed(const typename V::N* rows, const typename V::N* twist, std::int64_t n1,
                            std::int64_t block, typename V::N* out) {
  using N = typename V::N;
  constexpr std::int64_t kRow = fft::kRow<N>, kLanes = fft::kLanes<N>;
  for (std::int64_t k = 0; k < n1; k += kLanes, out += block)
    for (std::int64_t high = 0; high < kLanes; high += V::kWidth)
      for (std::int64_t lane = 0; lane < kLanes; lane += V::kWidth) {
        typename V::F re[V::kWidth], im[V::kWidth];
#pragma GCC unroll 16
        for (int i = 0; i < V::kWidth; ++i) {
          const N *z = rows + (k + high + i) * kRow + lane,
                  *w = twist + (k + high + i) * kRow + lane;
          Lanes<V> turned =
              times<V>({V::load(z), V::load(z + kLanes)}, V::load(w), V::load(w + kLanes));
          re[i] = turned.re, im[i] = turned.im;
        }
        V::transpose(re);
        V::transpose(im);
#pragma GCC unroll 16
        for (int i = 0; i < V::kWidth; ++i)
          rows_at(out).template put<V>((lane + i) * kRow + high, Lanes<V>{re[i], im[i]});
      }
}

/// j = n2 j1 + j2, k = k1 + n1 k2. `in` may be `out`. `next`: what will be read after this line.
template <class V, class In, class Out>
void split_line(const Plan<typename V::N>& plan, In in, Out out, In next,
                Scratch<typename V::N> scratch) {
  using N = typename V::N;
  constexpr std::int64_t kRow = fft::kRow<N>, kLanes = fft::kLanes<N>;
  std::int64_t n1 = plan.first.n, n2 = plan.second.n, rows1 = whole_lanes<N>(n1),
               rows2 = whole_lanes<N>(n2);
  N *middle = scratch.take(2 * rows1 * rows2), *rows = scratch.take(rows1 * kRow);
  for (std::int64_t i = n1 * kRow; i < rows1 * kRow; ++i) rows[i] = 0;
  for (std::int64_t j2 = 0; j2 < n2; j2 += kLanes) {
    out.expect_writes(j2 * n1, smaller(j2 + kLanes, n2) * n1);
    columns<V>(plan.first, in.moved(j2), n2, smaller(kLanes, n2 - j2), rows_at(rows), kRow, kLanes,
               scratch);
    twisted_and_transposed<V>(rows, plan.twist + j2 * 2 * rows1, n1, rows2 * kRow,
                              middle + j2 * kRow);
  }
  for (std::int64_t k1 = 0; k1 < n1; k1 += kLanes) {
    next.expect_reads(k1 * n2, smaller(k1 + kLanes, n1) * n2);
    const auto to = columns_at(out.moved(k1), n1);
    columns<V>(plan.second, rows_at(middle + k1 * 2 * rows2), kRow, kLanes, to.at, to.stride,
               smaller(kLanes, n1 - k1), scratch);
  }
}

/// Of `count` lines, at most kLanes, where each begins; the last one stands for those that are not
/// there.
template <class N>
struct Starts {
  Starts(std::int64_t count, std::int64_t step) {
    for (std::int64_t line = 0; line < kLanes<N>; ++line)
      at[line] = smaller(line, count - 1) * step;
  }
  std::int64_t at[kLanes<N>];
};

/// Lines side by side, `step` apart: number i of each makes row i.
template <class V, class In>
void lines_to_rows(std::int64_t n, In in, std::int64_t step, std::int64_t count,
                   typename V::N* rows_from) {
  using N = typename V::N;
  constexpr std::int64_t kRow = fft::kRow<N>, kWidth = V::kWidth,
                         kSome = In::kPairs && kWidth > 1 ? kWidth / 2 : kWidth;
  const Planes<N> rows = rows_at(rows_from);
  const Starts<N> starts(count, step);
  for (std::int64_t line = 0; line < kLanes<N>; line += kWidth) {
    const std::int64_t* start = starts.at + line;
    for (std::int64_t i = 0; i < n; i += kSome) {
      if (i + kSome > n) {
        if (n < kSome || std::is_same_v<In, Blocks<N>>) {  // of which vectors do not cross blocks
          for (; i < n; ++i)
            for (std::int64_t l = 0; l < kWidth; ++l) {
              const std::int64_t to = i * kRow + line + l;
              in.get_one(start[l] + i, rows.re[to], rows.im[to]);
            }
          break;
        }
        i = n - kSome;  // some of them once more
      }
      if constexpr (In::kPairs && kWidth > 1) {
        typename V::F x[kWidth];
#pragma GCC unroll 16
        for (int l = 0; l < kWidth; ++l) x[l] = V::load(in.pair(start[l] + i));
        V::transpose_pairs(x);
        V::transpose_pairs(x + kSome);
#pragma GCC unroll 8
        for (int c = 0; c < kSome; ++c) {
          Lanes<V> z;
          V::parted(x[c], x[kSome + c], z.re, z.im);
          rows.template put<V>((i + c) * kRow + line, in.template seen<V>(z));
        }
      } else {
        typename V::F re[kWidth], im[kWidth];
#pragma GCC unroll 16
        for (int l = 0; l < kWidth; ++l) {
          Lanes<V> z = in.template get<V>(start[l] + i);
          re[l] = z.re, im[l] = z.im;
        }
        V::transpose(re);
        V::transpose(im);
#pragma GCC unroll 16
        for (int c = 0; c < kWidth; ++c)
          rows.template put<V>((i + c) * kRow + line, Lanes<V>{re[c], im[c]});
      }
    }
  }
}

/// And back, rows of kLanes to the `count` lines that are there.
template <class V, class Out>
void rows_to_lines(std::int64_t n, typename V::N* rows_from, Out out, std::int64_t step,
                   std::int64_t count) {
  using N = typename V::N;
  constexpr std::int64_t kRow = fft::kRow<N>, kWidth = V::kWidth,
                         kSome = Out::kPairs && kWidth > 1 ? kWidth / 2 : kWidth;
  const Planes<N> rows = rows_at(rows_from);
  for (std::int64_t line = 0; line < count; line += kWidth) {
    const std::int64_t some = smaller(kWidth, count - line);
    for (std::int64_t i = 0; i < n; i += kSome) {
      if (i + kSome > n) {
        if (n < kSome || std::is_same_v<Out, Blocks<N>>) {
          for (; i < n; ++i)
            for (std::int64_t l = 0; l < some; ++l)
              out.put_one((line + l) * step + i, rows.re[i * kRow + line + l],
                          rows.im[i * kRow + line + l]);
          break;
        }
        i = n - kSome;
      }
      if constexpr (Out::kPairs && kWidth > 1) {
        typename V::F x[kWidth];
#pragma GCC unroll 8
        for (int c = 0; c < kSome; ++c) {
          const Lanes<V> z = out.template shown<V>(rows.template get<V>((i + c) * kRow + line));
          V::joined(z.re, z.im, x[c], x[kSome + c]);
        }
        V::transpose_pairs(x);
        V::transpose_pairs(x + kSome);
#pragma GCC unroll 16
        for (int l = 0; l < kWidth; ++l)
          if (l < some) V::store(out.pair((line + l) * step + i), x[l]);
      } else {
        typename V::F re[kWidth], im[kWidth];
#pragma GCC unroll 16
        for (int c = 0; c < kWidth; ++c) {
          const Lanes<V> z = rows.template get<V>((i + c) * kRow + line);
          re[c] = z.re, im[c] = z.im;
        }
        V::transpose(re);
        V::transpose(im);
#pragma GCC unroll 16
        for (int l = 0; l < kWidth; ++l)
          if (l < some) out.template put<V>((line + l) * step + i, Lanes<V>{re[l], im[l]});
      }
    }
  }
}

/// Up to kLanes lines side by side.
template <class V, class In, class Out>
void small_lines(const Plan<typename V::N>& plan, In in, std::int64_t in_step, Out out,
                 std::int64_t out_step, std::int64_t count, Scratch<typename V::N> scratch) {
  using N = typename V::N;
  constexpr std::int64_t kRow = fft::kRow<N>, kLanes = fft::kLanes<N>;
  N* rows = scratch.take(plan.n * kRow);
  lines_to_rows<V>(plan.n, in, in_step, count, rows);
  columns<V>(plan.whole, rows_at(rows), kRow, kLanes, rows_at(rows), kRow, kLanes, scratch);
  rows_to_lines<V>(plan.n, rows, out, out_step, count);
}

/// z = x chirp; y = chirp (z * filter), the convolution by two transforms of a power of two.
template <class V, class In, class Out>
void chirp_line(const Plan<typename V::N>& plan, In in, Out out, Scratch<typename V::N> scratch) {
  using N = typename V::N;
  std::int64_t n = plan.n, lanes = whole_lanes<N>(n), size = plan.inner->n;
  Planes<N> z = scratch.planes(size);
  copy_line<V>(n, in, z);
  for (std::int64_t i = n; i < size; ++i) z.put_one(i, 0, 0);
  auto multiply = [&](std::int64_t count, const N* by, std::int64_t apart, N scale) {
    for (std::int64_t i = 0; i < count; i += V::kWidth)
      z.template put<V>(i, times<V>(z.template get<V>(i), V::all(scale) * V::load(by + i),
                                    V::all(scale) * V::load(by + apart + i)));
  };
  multiply(lanes, plan.chirp, lanes, 1);
  split_line<V>(*plan.inner, z, z, z, scratch);
  multiply(size, plan.filter, size, 1);
  split_line<V>(*plan.inner, z.swapped(), z.swapped(), z, scratch);
  multiply(lanes, plan.chirp, lanes, 1 / static_cast<N>(size));  // a power of two
  copy_line<V>(n, z, out);
}

/// `count` lines, `in_step` and `out_step` complex numbers apart. `after`: what will be read after
/// them.
template <class V, class In, class Out>
void lines(const Plan<typename V::N>& plan, In in, std::int64_t in_step, Out out,
           std::int64_t out_step, std::int64_t count, In after, Scratch<typename V::N> scratch) {
  using N = typename V::N;
  constexpr std::int64_t kLanes = fft::kLanes<N>;
  if (plan.kind == Plan<N>::kSmall) {
    for (std::int64_t i = 0; i < count; i += kLanes)
      small_lines<V>(plan, in.moved(i * in_step), in_step, out.moved(i * out_step), out_step,
                     smaller(kLanes, count - i), scratch);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    if (plan.kind == Plan<N>::kChirp) {
      chirp_line<V>(plan, in.moved(i * in_step), out.moved(i * out_step), scratch);
      continue;
    }
    if constexpr (In::kDirect && Out::kDirect)
      if (!std::is_same_v<Out, Blocks<N>> || plan.first.n % kLanes == 0) {
        split_line<V>(plan, in.moved(i * in_step), out.moved(i * out_step),
                      i + 1 < count ? in.moved((i + 1) * in_step) : after, scratch);
        continue;
      }
    if constexpr (!In::kDirect || !Out::kDirect || std::is_same_v<Out, Blocks<N>>) {
      Scratch<N> inside = scratch;
      Planes<N> one = inside.planes(plan.n);
      copy_line<V>(plan.n, in.moved(i * in_step), one);
      split_line<V>(plan, one, one, one, inside);
      copy_line<V>(plan.n, one, out.moved(i * out_step));
    }
  }
}

}  // namespace
}  // namespace strata::loop::fft
