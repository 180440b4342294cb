// Whole transforms of one to three dimensions: lines of the last one, then columns of the others (first, where real numbers come out).
#pragma once

#include "strata/loop/kernel/fft_real.h"
#include "strata/loop/kernel/fft_run.h"

namespace strata::loop::fft {
namespace {

/// Lines along dimension 0 or 1 of an array of lengths[0] x lengths[1] x `line` numbers: of its blocks of kLanes columns (Job::blocks) those from `begin`
/// to `end`. Long ones are copied to a place of their own.
template <class V, class Out>
void across(const Job& job, int dimension, Planes in, Out out, Scratch scratch, std::int64_t begin, std::int64_t end) {
  const Plan& plan = *job.plans[dimension];
  const std::int64_t n = plan.n, stride = job.stride(dimension), blocks = whole_lanes(stride) / kLanes;
  Scratch inside = scratch;
  Planes one = inside.planes(n);
  for (std::int64_t block = begin; block < end; ++block) {
    const std::int64_t i = block % blocks * kLanes, at = block / blocks * n * stride + i, width = smaller(kLanes, stride - i);
    if (plan.has_whole()) {
      if (stride > kLanes)
        for (std::int64_t k = 0; k < n; ++k) in.expect_one(at + kLanes + k * stride);
      columns<V>(plan.whole, in.moved(at), stride, width, out.moved(at), stride, width, scratch);
      continue;
    }
    for (std::int64_t c = at; c < at + width; ++c) {
      for (std::int64_t k = 0; k < n; ++k) one.put_one(k, in.re[c + k * stride], in.im[c + k * stride]);
      lines<V>(plan, one, n, one, n, 1, one, inside);
      for (std::int64_t k = 0; k < n; ++k) out.put_one(c + k * stride, one.re[k], one.im[k]);
    }
  }
}

/// Units `begin` to `end` of a step of one transform (Step), by way of `planes`.
template <class V, class In, class Out>
void part_of(const Job& job, Step step, std::int64_t begin, std::int64_t end, In in, Planes planes, Out out, Scratch scratch) {
  const std::int64_t n = job.line();
  switch (step) {
    case Step::in: return lines<V>(*job.plans[2], in.moved(begin * n), n, planes.moved(begin * n), n, end - begin, in.moved(begin * n), scratch);
    case Step::middle: return across<V>(job, 1, planes, planes, scratch, begin, end);
    case Step::first:
      if constexpr (Out::kDirect) return across<V>(job, job.first(), planes, out, scratch, begin, end);
      return across<V>(job, job.first(), planes, planes, scratch, begin, end);
    case Step::out:
      if constexpr (!Out::kDirect) copy_line<V>((end - begin) * n, planes.moved(begin * n), out.moved(begin * n));
  }
}

template <class V, class T>
void part(const Job& job, Step step, std::int64_t begin, std::int64_t end, const T* in, double* planes_at, T* out) {
  Scratch whole(planes_at), scratch(job.scratch);
  const Planes planes = whole.planes(job.rows() * job.line());
  const Plan& plan = *job.plans[2];
  const std::int64_t n = job.lengths[2], line = job.line();
  const auto count = static_cast<double>(job.size());
  Pairs<T> from{const_cast<T*>(in)}, to{out};
  switch (job.kind) {
    case kForward: return part_of<V>(job, step, begin, end, from, planes, to, scratch);
    case kInverse: return part_of<V>(job, step, begin, end, SwappedPairs<T>(from.at, 1), planes, SwappedPairs<T>(out, count), scratch);
    case kRealForward:
      if (step == Step::in) return real_lines<V>(plan, in + begin * n, planes.moved(begin * line), end - begin, scratch);
      return part_of<V>(job, step, begin, end, planes, planes, to, scratch);
    default:
      if (step == Step::in) return copy_line<V>((end - begin) * line, from.moved(begin * line), planes.moved(begin * line));
      if (step == Step::out) return real_inverse_lines<V>(plan, planes.moved(begin * line), out + begin * n, count, end - begin, scratch);
      return part_of<V>(job, step, begin, end, planes, planes.swapped(), planes.swapped(), scratch);
  }
}

/// Transforms of one dimension.
template <class V, class T>
void run_lines(const Job& job, const T* in, T* out) {
  const Plan& plan = *job.plans[2];
  const std::int64_t n = job.lengths[2];
  const auto size = static_cast<double>(n);
  Pairs<T> from{const_cast<T*>(in)}, to{out};
  SwappedPairs<T> swapped(from.at, 1);
  Scratch scratch(job.scratch);
  switch (job.kind) {
    case kForward: return lines<V>(plan, from, n, to, n, job.count, from, scratch);
    case kInverse: return lines<V>(plan, swapped, n, SwappedPairs<T>(out, size), n, job.count, swapped, scratch);
    case kRealForward: return real_lines<V>(plan, in, to, job.count, scratch);
    default: return real_inverse_lines<V>(plan, from, out, size, job.count, scratch);
  }
}

/// Those of several one after the other, all units of a step and then of the next.
template <class V, class T>
void run(const Job& job, const T* in, T* out) {
  if (job.rows() == 1) return run_lines<V>(job, in, out);
  const std::int64_t real = job.size(), complex = 2 * job.rows() * job.line();
  Job one = job;
  one.scratch += 2 * whole_lanes(complex / 2);  // planes stand before it
  for (std::int64_t i = 0; i < job.count; ++i)
    for (Step step : kSteps)
      if (const std::int64_t units = job.units(step))
        part<V>(one, step, 0, units, in + i * (job.kind == kRealForward ? real : complex), job.scratch, out + i * (job.kind == kRealInverse ? real : complex));
}

template <class V>
void run_planes(const Plan& plan, double* re, double* im, double* scratch) {
  Planes z{re, im};
  lines<V>(plan, z, plan.n, z, plan.n, 1, z, Scratch(scratch));
}

}  // namespace
}  // namespace strata::loop::fft
