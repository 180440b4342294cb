// Whole transforms of one to three dimensions: lines of the last one, then columns of the others
// (first, where real numbers come out).
#pragma once

#include "strata/loop/kernel/fft/fft_real.h"
#include "strata/loop/kernel/fft/fft_run.h"

namespace strata::loop::fft {
namespace {

/// Where the rows of an array of lengths[0] x lengths[1] x line() numbers are, and what dimension 0
/// is apart.
struct Strides {
  std::int64_t row, slab;
};
template <class N>
Strides strides_of(const Job<N>& job, const Blocks<N>&) {
  return {job.row(), job.slab()};
}
template <class N, class Out>
Strides strides_of(const Job<N>& job, const Out&) {
  return {job.line(), job.lengths[1] * job.line()};
}

/// Lines along dimension 0 or 1: of their blocks of kLanes columns (Job::blocks) those from `begin`
/// to `end`. Long ones are copied to a place of their own.
template <class V, class Out>
void across(const Job<typename V::N>& job, int dimension, Blocks<typename V::N> in, Out out,
            Scratch<typename V::N> scratch, std::int64_t begin, std::int64_t end) {
  using N = typename V::N;
  constexpr std::int64_t kRow = fft::kRow<N>, kLanes = fft::kLanes<N>;
  const Plan<N>& plan = *job.plans[dimension];
  const Strides from = strides_of(job, in), to = strides_of(job, out);
  const std::int64_t n = plan.n, line = job.line(), blocks = whole_lanes<N>(line) / kLanes;
  const std::int64_t in_stride = dimension == 0 ? from.slab : from.row,
                     out_stride = dimension == 0 ? to.slab : to.row;
  const auto start = [&](std::int64_t block, const Strides& s) {
    return block / blocks * (dimension == 0 ? s.row : s.slab) + block % blocks * kLanes;
  };
  Scratch<N> inside = scratch;
  Planes<N> one = inside.planes(n);
  for (std::int64_t block = begin; block < end; ++block) {
    const std::int64_t width = smaller(kLanes, line - block % blocks * kLanes);
    const Blocks<N> x = in.moved(start(block, from));
    const Out y = out.moved(start(block, to));
    if (plan.has_whole()) {
      const auto rows = columns_at(x, in_stride);
      const std::int64_t ahead =
          block + 1 < end ? 2 * (start(block + 1, from) - start(block, from)) : 0;
      if constexpr (!std::is_same_v<Out, Blocks<N>>)
        if (job.is_huge() && out_stride % kLanes == 0 && y.on_cache_lines()) {
          Scratch<N> more = scratch;
          const Planes<N> results = rows_at(more.take(n * kRow));
          columns<V>(plan.whole, rows.at, rows.stride, kLanes, results, kRow, kLanes, more, ahead);
          for (std::int64_t k = 0; k < n; ++k)
            for (std::int64_t i = 0; i < kLanes; i += V::kWidth)
              y.template put_streamed<V>(k * out_stride + i, results.template get<V>(k * kRow + i));
          V::streamed();
          continue;
        }
      const auto results = columns_at(y, out_stride);
      const std::int64_t written = std::is_same_v<Out, Blocks<N>> ? kLanes : width;
      columns<V>(plan.whole, rows.at, rows.stride, kLanes, results.at, results.stride, written,
                 scratch, ahead);
      continue;
    }
    for (std::int64_t c = 0; c < width; ++c) {
      for (std::int64_t k = 0; k < n; ++k) x.get_one(k * in_stride + c, one.re[k], one.im[k]);
      lines<V>(plan, one, n, one, n, 1, one, inside);
      for (std::int64_t k = 0; k < n; ++k) y.put_one(k * out_stride + c, one.re[k], one.im[k]);
    }
  }
}

/// A copy past the caches.
template <class V>
void stream(const typename V::N* from, typename V::N* to, std::int64_t numbers) {
  for (std::int64_t i = 0; i < numbers; i += V::kWidth) V::stream(to + i, V::load(from + i));
  V::streamed();
}

/// Units `begin` to `end` of a step of one transform (Step), by way of `between`; `to_blocks`(i,
/// count, at) makes lines i .. i + count - 1 of what is read.
template <class V, class Lines, class Out>
void part_of(const Job<typename V::N>& job, Step step, std::int64_t begin, std::int64_t end,
             Lines to_blocks, Blocks<typename V::N> between, Out out,
             Scratch<typename V::N> scratch) {
  using N = typename V::N;
  constexpr std::int64_t kLanes = fft::kLanes<N>;
  const std::int64_t n = job.line(), row = job.row(), rows = job.lengths[1];
  switch (step) {
    case Step::in:
      if (!job.by_slabs()) {
        while (begin < end) {  // a slab's rows go on behind those before it
          std::int64_t count = smaller(end - begin, rows - begin % rows);
          const Blocks<N> at = between.moved(begin / rows * job.slab() + begin % rows * row);
          if (job.aside() > 0) {
            Scratch<N> inside = scratch;
            const Blocks<N> some{rows_at(inside.take(job.aside()))};
            to_blocks(begin, count = smaller(count, kLanes), some, inside);
            stream<V>(some.first.re, at.first.re, 2 * count * row);
          } else {
            to_blocks(begin, count, at, scratch);
          }
          begin += count;
        }
        return;
      }
      for (Blocks<N> slab{rows_at(scratch.take(job.aside()))}; begin < end; ++begin) {
        to_blocks(begin * rows, rows, slab, scratch);
        if (job.is_large()) {
          across<V>(job, 1, slab, slab, scratch, 0, whole_lanes<N>(n) / kLanes);
          stream<V>(slab.first.re, between.moved(begin * job.slab()).first.re, 2 * job.slab());
        } else {
          across<V>(job, 1, slab, between.moved(begin * job.slab()), scratch, 0,
                    whole_lanes<N>(n) / kLanes);
        }
      }
      return;
    case Step::middle: return across<V>(job, 1, between, between, scratch, begin, end);
    case Step::first:
      if constexpr (Out::kDirect)
        return across<V>(job, job.first(), between, out, scratch, begin, end);
      return across<V>(job, job.first(), between, between, scratch, begin, end);
    case Step::out:
      if constexpr (!Out::kDirect)
        for (; begin < end; ++begin)
          copy_line<V>(n, between.moved(begin / rows * job.slab() + begin % rows * row),
                       out.moved(begin * n));
  }
}

template <class V, class N = typename V::N>
void part(const Job<N>& job, Step step, std::int64_t begin, std::int64_t end, const N* in,
          N* between_at, N* out) {
  const Blocks<N> between{rows_at(between_at)};
  const Plan<N>& plan = *job.plans[2];
  const std::int64_t n = job.lengths[2], line = job.line(), row = job.row(), rows = job.lengths[1];
  const auto count = static_cast<N>(job.size());
  const Pairs<N> from{const_cast<N*>(in)}, to{out};
  const auto lines_of = [&](const auto& x) {
    return [&plan, n, row, x](std::int64_t i, std::int64_t some, Blocks<N> at, Scratch<N> scratch) {
      lines<V>(plan, x.moved(i * n), n, at, row, some, x.moved(i * n), scratch);
    };
  };
  const auto reals = [&](std::int64_t i, std::int64_t some, Blocks<N> at, Scratch<N> scratch) {
    real_lines<V>(plan, in + i * n, at, row, some, scratch);
  };
  const auto copies = [&](std::int64_t i, std::int64_t some, Blocks<N> at, Scratch<N>) {
    for (std::int64_t j = 0; j < some; ++j)
      copy_line<V>(line, from.moved((i + j) * line), at.swapped().moved(j * row));
  };
  Scratch<N> scratch(job.scratch);
  switch (job.kind) {
    case kForward: return part_of<V>(job, step, begin, end, lines_of(from), between, to, scratch);
    case kInverse:
      return part_of<V>(job, step, begin, end, lines_of(SwappedPairs<N>(from.at, 1)), between,
                        SwappedPairs<N>(out, count), scratch);
    case kRealForward: return part_of<V>(job, step, begin, end, reals, between, to, scratch);
    default:
      if (step != Step::out)
        return part_of<V>(job, step, begin, end, copies, between, between, scratch);
      while (begin < end) {
        const std::int64_t some = smaller(end - begin, rows - begin % rows);
        real_inverse_lines<V>(
            plan, between.swapped().moved(begin / rows * job.slab() + begin % rows * row), row,
            out + begin * n, count, some, scratch);
        begin += some;
      }
  }
}

/// Transforms of one dimension.
template <class V, class N = typename V::N>
void run_lines(const Job<N>& job, const N* in, N* out) {
  const Plan<N>& plan = *job.plans[2];
  const std::int64_t n = job.lengths[2];
  const auto size = static_cast<N>(n);
  Pairs<N> from{const_cast<N*>(in)}, to{out};
  SwappedPairs<N> swapped(from.at, 1);
  Scratch<N> scratch(job.scratch);
  switch (job.kind) {
    case kForward: return lines<V>(plan, from, n, to, n, job.count, from, scratch);
    case kInverse:
      return lines<V>(plan, swapped, n, SwappedPairs<N>(out, size), n, job.count, swapped, scratch);
    case kRealForward: return real_lines<V>(plan, in, to, job.line(), job.count, scratch);
    default: return real_inverse_lines<V>(plan, from, job.line(), out, size, job.count, scratch);
  }
}

/// Those of several one after the other, all units of a step and then of the next.
template <class V, class N = typename V::N>
void run(const Job<N>& job, const N* in, N* out) {
  if (job.rows() == 1) return run_lines<V>(job, in, out);
  const std::int64_t real = job.size(), complex = 2 * job.rows() * job.line();
  Job<N> one = job;
  one.scratch += job.between();  // that stands before it
  for (std::int64_t i = 0; i < job.count; ++i)
    for (Step step : kSteps)
      if (const std::int64_t units = job.units(step))
        part<V>(one, step, 0, units, in + i * (job.kind == kRealForward ? real : complex),
                job.scratch, out + i * (job.kind == kRealInverse ? real : complex));
}

template <class V>
void run_planes(const Plan<double>& plan, double* re, double* im, double* scratch) {
  const Planes<double> z{re, im};
  lines<V>(plan, z, plan.n, z, plan.n, 1, z, Scratch<double>(scratch));
}

template <class V>
constexpr Transforms<typename V::N> transforms_by{run<V>, part<V>};

}  // namespace
}  // namespace strata::loop::fft
