// Transforms of lines by their plans.
#pragma once

#include "strata/loop/kernel/fft_columns.h"

namespace strata::loop::fft {
namespace {

/// Copies n numbers.
template <class V, class In, class Out>
void copy_line(std::int64_t n, In in, Out out) {
  std::int64_t i = 0;
  for (; i + V::kWidth <= n; i += V::kWidth) out.template put<V>(i, in.template get<V>(i));
  for (; i < n; ++i) {
    double x, y;
    in.get_one(i, x, y);
    out.put_one(i, x, y);
  }
}

/// kLanes columns of the first transforms, each number turned by the twist, become rows of the second ones' blocks.
template <class V>
void twisted_and_transposed(const double* rows, const double* twist, std::int64_t n1, std::int64_t block, double* out) {
  for (std::int64_t k = 0; k < n1; k += kLanes, out += block)
    for (std::int64_t high = 0; high < kLanes; high += V::kWidth)
      for (std::int64_t lane = 0; lane < kLanes; lane += V::kWidth) {
        typename V::F re[V::kWidth], im[V::kWidth];
#pragma GCC unroll 8
        for (int i = 0; i < V::kWidth; ++i) {
          const double *z = rows + (k + high + i) * kRow + lane, *w = twist + (k + high + i) * kRow + lane;
          Lanes<V> turned = times<V>({V::load(z), V::load(z + kLanes)}, V::load(w), V::load(w + kLanes));
          re[i] = turned.re, im[i] = turned.im;
        }
        V::transpose(re);
        V::transpose(im);
#pragma GCC unroll 8
        for (int i = 0; i < V::kWidth; ++i) rows_at(out).template put<V>((lane + i) * kRow + high, Lanes<V>{re[i], im[i]});
      }
}

/// j = n2 j1 + j2, k = k1 + n1 k2. `in` may be `out`. `next`: what will be read after this line.
template <class V, class In, class Out>
void split_line(const Plan& plan, In in, Out out, In next, Scratch scratch) {
  std::int64_t n1 = plan.first.n, n2 = plan.second.n, rows1 = whole_lanes(n1), rows2 = whole_lanes(n2);
  double *middle = scratch.take(2 * rows1 * rows2), *rows = scratch.take(rows1 * kRow);
  for (std::int64_t i = n1 * kRow; i < rows1 * kRow; ++i) rows[i] = 0;
  for (std::int64_t j2 = 0; j2 < n2; j2 += kLanes) {
    out.expect_writes(j2 * n1, smaller(j2 + kLanes, n2) * n1);
    columns<V>(plan.first, in.moved(j2), n2, smaller(kLanes, n2 - j2), rows_at(rows), kRow, kLanes, scratch);
    twisted_and_transposed<V>(rows, plan.twist + j2 * 2 * rows1, n1, rows2 * kRow, middle + j2 * kRow);
  }
  for (std::int64_t k1 = 0; k1 < n1; k1 += kLanes) {
    next.expect_reads(k1 * n2, smaller(k1 + kLanes, n1) * n2);
    const auto to = columns_at(out.moved(k1), n1);
    columns<V>(plan.second, rows_at(middle + k1 * 2 * rows2), kRow, kLanes, to.at, to.stride, smaller(kLanes, n1 - k1), scratch);
  }
}

/// kLanes lines side by side: number i of each makes row i.
template <class V, class In>
void lines_to_rows(std::int64_t n, In in, std::int64_t step, double* rows) {
  for (std::int64_t line = 0; line < kLanes; line += V::kWidth) {
    std::int64_t i = 0;
    for (; i + V::kWidth <= n; i += V::kWidth) {
      typename V::F re[V::kWidth], im[V::kWidth];
#pragma GCC unroll 8
      for (int l = 0; l < V::kWidth; ++l) {
        Lanes<V> z = in.moved((line + l) * step).template get<V>(i);
        re[l] = z.re, im[l] = z.im;
      }
      V::transpose(re);
      V::transpose(im);
#pragma GCC unroll 8
      for (int l = 0; l < V::kWidth; ++l) rows_at(rows).template put<V>((i + l) * kRow + line, Lanes<V>{re[l], im[l]});
    }
    for (; i < n; ++i)
      for (int l = 0; l < V::kWidth; ++l) {
        double *to = rows + i * kRow + line + l;
        in.get_one((line + l) * step + i, to[0], to[kLanes]);
      }
  }
}

template <class V, class Out>
void rows_to_lines(std::int64_t n, double* rows, Out out, std::int64_t step) {
  for (std::int64_t line = 0; line < kLanes; line += V::kWidth) {
    std::int64_t i = 0;
    for (; i + V::kWidth <= n; i += V::kWidth) {
      typename V::F re[V::kWidth], im[V::kWidth];
#pragma GCC unroll 8
      for (int l = 0; l < V::kWidth; ++l) {
        Lanes<V> z = rows_at(rows).template get<V>((i + l) * kRow + line);
        re[l] = z.re, im[l] = z.im;
      }
      V::transpose(re);
      V::transpose(im);
#pragma GCC unroll 8
      for (int l = 0; l < V::kWidth; ++l) out.moved((line + l) * step).template put<V>(i, Lanes<V>{re[l], im[l]});
    }
    for (; i < n; ++i)
      for (int l = 0; l < V::kWidth; ++l) out.put_one((line + l) * step + i, rows[i * kRow + line + l], rows[i * kRow + kLanes + line + l]);
  }
}

/// Up to kLanes lines side by side.
template <class V, class In, class Out>
void small_lines(const Plan& plan, In in, std::int64_t in_step, Out out, std::int64_t out_step, std::int64_t count, Scratch scratch) {
  std::int64_t n = plan.n;
  double* rows = scratch.take(n * kRow);
  if (count == kLanes) {
    lines_to_rows<V>(n, in, in_step, rows);
  } else {
    for (std::int64_t i = 0; i < n * kRow; ++i) rows[i] = 0;
    for (std::int64_t line = 0; line < count; ++line)
      for (std::int64_t i = 0; i < n; ++i) in.get_one(line * in_step + i, rows[i * kRow + line], rows[i * kRow + kLanes + line]);
  }
  columns<V>(plan.whole, rows_at(rows), kRow, kLanes, rows_at(rows), kRow, kLanes, scratch);
  if (count == kLanes) return rows_to_lines<V>(n, rows, out, out_step);
  for (std::int64_t line = 0; line < count; ++line)
    for (std::int64_t i = 0; i < n; ++i) out.put_one(line * out_step + i, rows[i * kRow + line], rows[i * kRow + kLanes + line]);
}

/// z = x chirp; y = chirp (z * filter), the convolution by two transforms of a power of two.
template <class V, class In, class Out>
void chirp_line(const Plan& plan, In in, Out out, Scratch scratch) {
  std::int64_t n = plan.n, lanes = whole_lanes(n), size = plan.inner->n;
  Planes z = scratch.planes(size);
  copy_line<V>(n, in, z);
  for (std::int64_t i = n; i < size; ++i) z.put_one(i, 0, 0);
  auto multiply = [&](std::int64_t count, const double* by, std::int64_t apart, double scale) {
    for (std::int64_t i = 0; i < count; i += V::kWidth)
      z.put<V>(i, times<V>(z.get<V>(i), V::all(scale) * V::load(by + i), V::all(scale) * V::load(by + apart + i)));
  };
  multiply(lanes, plan.chirp, lanes, 1);
  split_line<V>(*plan.inner, z, z, z, scratch);
  multiply(size, plan.filter, size, 1);
  split_line<V>(*plan.inner, z.swapped(), z.swapped(), z, scratch);
  multiply(lanes, plan.chirp, lanes, 1 / static_cast<double>(size));  // a power of two
  copy_line<V>(n, z, out);
}

/// `count` lines, `in_step` and `out_step` complex numbers apart. `after`: what will be read after them.
template <class V, class In, class Out>
void lines(const Plan& plan, In in, std::int64_t in_step, Out out, std::int64_t out_step, std::int64_t count, In after, Scratch scratch) {
  if (plan.kind == Plan::kSmall) {
    for (std::int64_t i = 0; i < count; i += kLanes)
      small_lines<V>(plan, in.moved(i * in_step), in_step, out.moved(i * out_step), out_step, smaller(kLanes, count - i), scratch);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    if (plan.kind == Plan::kChirp) {
      chirp_line<V>(plan, in.moved(i * in_step), out.moved(i * out_step), scratch);
      continue;
    }
    if constexpr (In::kDirect && Out::kDirect)
      if (!std::is_same_v<Out, Blocks> || plan.first.n % kLanes == 0) {
        split_line<V>(plan, in.moved(i * in_step), out.moved(i * out_step), i + 1 < count ? in.moved((i + 1) * in_step) : after, scratch);
        continue;
      }
    if constexpr (!In::kDirect || !Out::kDirect || std::is_same_v<Out, Blocks>) {
      Scratch inside = scratch;
      Planes one = inside.planes(plan.n);
      copy_line<V>(plan.n, in.moved(i * in_step), one);
      split_line<V>(plan, one, one, one, inside);
      copy_line<V>(plan.n, one, out.moved(i * out_step));
    }
  }
}

}  // namespace
}  // namespace strata::loop::fft
