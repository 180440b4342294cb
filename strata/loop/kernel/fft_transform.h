// Whole transforms of one to three dimensions: lines of the last one, then columns of the others (first, where real numbers come out).
#pragma once

#include "strata/loop/kernel/fft_real.h"
#include "strata/loop/kernel/fft_run.h"

namespace strata::loop::fft {
namespace {

/// All lines along dimension 0 or 1 of an array of lines[0] x lines[1] x `line` numbers. Long ones are copied to a place of their own.
template <class V, class Out>
void across(const Job& job, int dimension, Planes in, Out out, Scratch scratch) {
  const Plan& plan = *job.plans[dimension];
  std::int64_t n = plan.n, line = job.line(), stride = dimension == 0 ? job.lengths[1] * line : line, size = job.rows() * line;
  for (std::int64_t at = 0; at < size; at += n * stride) {
    if (plan.has_whole()) {
      for (std::int64_t i = 0; i < stride; i += kLanes) {
        std::int64_t width = smaller(kLanes, stride - i);
        if (stride > kLanes)
          for (std::int64_t k = 0; k < n; ++k) in.expect_one(at + i + kLanes + k * stride);
        columns<V>(plan.whole, in.moved(at + i), stride, width, out.moved(at + i), stride, width, scratch);
      }
      continue;
    }
    Scratch inside = scratch;
    Planes one = inside.planes(n);
    for (std::int64_t i = at; i < at + stride; ++i) {
      for (std::int64_t k = 0; k < n; ++k) one.put_one(k, in.re[i + k * stride], in.im[i + k * stride]);
      lines<V>(plan, one, n, one, n, 1, one, inside);
      for (std::int64_t k = 0; k < n; ++k) out.put_one(i + k * stride, one.re[k], one.im[k]);
    }
  }
}

/// The dimensions before the last, from one to the other or in place.
template <class V, class Out>
void all_across(const Job& job, Planes planes, Out out, Scratch scratch) {
  if constexpr (!Out::kDirect) {
    all_across<V>(job, planes, planes, scratch);
    return copy_line<V>(job.rows() * job.line(), planes, out);
  } else {
    if (job.lengths[0] == 1) return across<V>(job, 1, planes, out, scratch);
    if (job.lengths[1] > 1) across<V>(job, 1, planes, planes, scratch);
    across<V>(job, 0, planes, out, scratch);
  }
}

template <class V, class T, class In, class Out>
void complex_transform(const Job& job, In in, Out out) {
  Scratch scratch(job.scratch);
  const Plan& plan = *job.plans[2];
  std::int64_t n = plan.n, rows = job.rows();
  if (rows == 1) return lines<V>(plan, in, n, out, n, job.count, in, scratch);
  Planes planes = scratch.planes(job.size());
  for (std::int64_t i = 0; i < job.count; ++i) {
    lines<V>(plan, in.moved(i * job.size()), n, planes, n, rows, in, scratch);
    all_across<V>(job, planes, out.moved(i * job.size()), scratch);
  }
}

template <class V, class T>
void real_transform(const Job& job, const T* in, T* out) {
  Scratch scratch(job.scratch);
  const Plan& plan = *job.plans[2];
  std::int64_t rows = job.rows(), size = rows * job.line();
  Pairs<T> to{out};
  if (rows == 1) return real_lines<V>(plan, in, to, job.count, scratch);
  Planes planes = scratch.planes(size);
  for (std::int64_t i = 0; i < job.count; ++i) {
    real_lines<V>(plan, in + i * job.size(), planes, rows, scratch);
    all_across<V>(job, planes, to.moved(i * size), scratch);
  }
}

template <class V, class T>
void real_inverse_transform(const Job& job, const T* in, T* out) {
  Scratch scratch(job.scratch);
  const Plan& plan = *job.plans[2];
  std::int64_t rows = job.rows(), size = rows * job.line();
  auto count = static_cast<double>(job.size());
  Pairs<T> from{const_cast<T*>(in)};
  if (rows == 1) return real_inverse_lines<V>(plan, from, out, count, job.count, scratch);
  Planes planes = scratch.planes(size);
  for (std::int64_t i = 0; i < job.count; ++i) {
    copy_line<V>(size, from.moved(i * size), planes);
    all_across<V>(job, planes.swapped(), planes.swapped(), scratch);
    real_inverse_lines<V>(plan, planes, out + i * job.size(), count, rows, scratch);
  }
}

template <class V, class T>
void run(const Job& job, const T* in, T* out) {
  Pairs<T> from{const_cast<T*>(in)};
  auto count = static_cast<double>(job.size());
  switch (job.kind) {
    case kForward: return complex_transform<V, T>(job, from, Pairs<T>{out});
    case kInverse: return complex_transform<V, T>(job, SwappedPairs<T>(from.at, 1), SwappedPairs<T>(out, count));
    case kRealForward: return real_transform<V>(job, in, out);
    default: return real_inverse_transform<V>(job, in, out);
  }
}

template <class V>
void run_planes(const Plan& plan, double* re, double* im, double* scratch) {
  Planes z{re, im};
  lines<V>(plan, z, plan.n, z, plan.n, 1, z, Scratch(scratch));
}

}  // namespace
}  // namespace strata::loop::fft
