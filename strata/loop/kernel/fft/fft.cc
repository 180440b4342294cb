// fft: the discrete Fourier transform of 1 to 3 dimensions, of any lengths.
//
// Buffers: input, result (complex numbers as pairs, in c64 or c128; the real side of RFFT and IRFFT
// as f32 or f64). Parameters: kind (0 FFT, 1 IFFT, 2 RFFT, 3 IRFFT), 1 for f64, dimensions, three
// lengths (of the real side), unused ones first and 1, the number of transforms, and how many of
// them a grid point does.
//
// Lengths whose prime factors are small use mixed radix (fft_line.h), others by Bluestein's
// convolution. Everything is computed in the type of the result, with roots of unity that are the
// nearest ones (docs/decision/0024-fft-in-f32.md).
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "strata/base/thread_pool.h"
#include "strata/loop/kernel/fft/fft_plan_of.h"
#include "strata/loop/kernel/fft/fft_run.h"

extern "C" void strata_fft(void* const* buffers, std::int64_t begin, std::int64_t end);

namespace strata::loop::fft {

namespace {

/// The least distance from n on that leads columns through many places of a cache.
template <class N>
std::int64_t apart(std::int64_t n) {
  return n % (8 * kLanes<N>) == 0 ? n + kLanes<N> : n;
}

}  // namespace

template <class N>
std::int64_t Job<N>::rows() const {
  return lengths[0] * lengths[1];
}
template <class N>
std::int64_t Job<N>::size() const {
  return rows() * lengths[2];
}
template <class N>
std::int64_t Job<N>::line() const {
  return real() ? lengths[2] / 2 + 1 : lengths[2];
}
template <class N>
std::int64_t Job<N>::row() const {
  return apart<N>(whole_lanes<N>(line()));
}
template <class N>
std::int64_t Job<N>::slab() const {
  return apart<N>(lengths[1] * row());
}
template <class N>
std::int64_t Job<N>::blocks(int dimension) const {
  return rows() / lengths[dimension] * (whole_lanes<N>(line()) / kLanes<N>);
}
template <class N>
std::int64_t Job<N>::aside() const {
  return by_slabs()                                     ? 2 * slab()
         : rows() > 1 && is_large() && row() <= 1 << 12 ? 2 * kLanes<N> * row()
                                                        : 0;
}
template <class N>
bool Job<N>::by_slabs() const {
  return lengths[0] >= 16 && lengths[1] > 1 &&
         slab() * static_cast<std::int64_t>(sizeof(N)) <= 1 << 18;
}
template <class N>
std::int64_t Job<N>::units(Step step) const {
  if (step == Step::middle) return lengths[0] == 1 || lengths[1] == 1 || by_slabs() ? 0 : blocks(1);
  if (step == Step::in && by_slabs()) return lengths[0];
  return step == Step::first ? blocks(first()) : rows();
}
template <class N>
bool Job<N>::real() const {
  return kind == kRealForward || kind == kRealInverse;
}

template struct Job<float>;
template struct Job<double>;

const InstructionSet& instruction_set() {
  static const InstructionSet& best = kAvx512.present() ? kAvx512
                                      : kAvx2.present() ? kAvx2
                                                        : kPortable;
  return best;
}

void transform_planes(const Plan<double>& plan, double* re, double* im, double* scratch) {
  instruction_set().planes(plan, re, im, scratch);
}

namespace {

struct Params {
  std::int64_t kind, wide, rank, lengths[3], transforms, together;
};

/// A thread's scratch; what is not large stays for the next call, which would wait for fresh pages.
class Workspace {
 public:
  ~Workspace() { release(); }
  template <class N>
  N* of(std::int64_t numbers) {
    const std::size_t bytes = static_cast<std::size_t>(numbers) * sizeof(N);
    if (bytes > bytes_) {
      release();
      at_ = ::operator new[](bytes, alignment(bytes));
      bytes_ = bytes;
      if (bytes >= kPage)
        madvise(at_, bytes,
                MADV_HUGEPAGE);  // columns are walked, with small pages one for each row
      std::memset(at_, 0, bytes);
    }
    return static_cast<N*>(at_);
  }
  void trim() {
    if (bytes_ > kKept) release();
  }

 private:
  static constexpr std::size_t kKept = 1 << 26, kPage = 1 << 21;
  static std::align_val_t alignment(std::size_t bytes) {
    return std::align_val_t{bytes >= kPage ? kPage : 64};
  }
  void release() {
    ::operator delete[](at_, alignment(bytes_));
    at_ = nullptr, bytes_ = 0;
  }
  void* at_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A transform that a thread would take long for, and that has lines for others.
template <class N>
bool is_for_all_threads(const Params& p, const Job<N>& job) {
  return p.transforms == 1 && job.rows() > 1 && job.size() >= 1 << 15;
}

/// One large transform by all threads, step by step. Which lines are done together does not depend
/// on how many there are.
template <class N>
void run_steps(const Transforms<N>& transforms, const Job<N>& job, std::int64_t scratch,
               const N* in, N* out) {
  thread_local Workspace whole;
  struct Work {
    const Job<N>& job;
    std::int64_t scratch;
    decltype(transforms.part) run;
    const N* in;
    N* between;
    N* out;
    Step step;
  } work{job, scratch, transforms.part, in, whole.of<N>(job.between()), out, Step::in};
  for (Step step : kSteps) {
    const std::int64_t units = job.units(step);
    work.step = step;
    parallel_for(
        units, step == Step::in && job.by_slabs() ? units / 64 + 1 : whole_lanes<N>(units / 64 + 1),
        [](void* context, std::int64_t begin, std::int64_t end) {
          const Work& w = *static_cast<Work*>(context);
          thread_local Workspace mine;
          Job<N> job = w.job;
          job.scratch = mine.of<N>(w.scratch);
          w.run(job, w.step, begin, end, w.in, w.between, w.out);
          mine.trim();
        },
        &work);
  }
  whole.trim();
}

/// Transforms [begin, end).
template <class N>
void run_some(const Transforms<N>& transforms, const Params& p, const N* in, N* out,
              std::int64_t begin, std::int64_t end) {
  thread_local Workspace workspace;
  Job<N> job{p.kind, {p.lengths[0], p.lengths[1], p.lengths[2]}, {}, end - begin, nullptr};
  std::shared_ptr<const Plan<N>> plans[3];
  std::int64_t scratch = 0;
  for (int d = 0; d < 3; ++d) {
    if (d < 2 && p.lengths[d] == 1) continue;
    plans[d] = plan_of<N>(p.lengths[d], d == 2 && job.real() && p.lengths[d] % 2 == 0);
    job.plans[d] = plans[d].get();
    scratch = std::max(scratch, plans[d]->scratch + 2 * whole_lanes<N>(p.lengths[d]));
  }
  const bool in_steps = is_for_all_threads(p, job);
  if (job.rows() > 1 && !in_steps) scratch += job.between();
  scratch += job.aside();
  if (job.real()) scratch += 4 * real_room(*plans[2]) * lines_together(*plans[2]);  // fft_real.h
  if (in_steps) return run_steps(transforms, job, scratch, in, out);
  job.scratch = workspace.of<N>(scratch);
  const std::int64_t complex_numbers = 2 * job.rows() * job.line();
  transforms.run(job, in + begin * (p.kind == kRealForward ? job.size() : complex_numbers),
                 out + begin * (p.kind == kRealInverse ? job.size() : complex_numbers));
  workspace.trim();
}

}  // namespace

void run_grid(const InstructionSet& set, void* const* buffers, std::int64_t begin,
              std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[2]);
  begin *= p.together;
  end = std::min(end * p.together, p.transforms);
  if (begin >= end) return;  // lengths may be 0 then
  if (p.wide)
    return run_some(set.f64, p, static_cast<const double*>(buffers[0]),
                    static_cast<double*>(buffers[1]), begin, end);
  run_some(set.f32, p, static_cast<const float*>(buffers[0]), static_cast<float*>(buffers[1]),
           begin, end);
}

}  // namespace strata::loop::fft

extern "C" void strata_fft(void* const* buffers, std::int64_t begin, std::int64_t end) {
  strata::loop::fft::run_grid(strata::loop::fft::instruction_set(), buffers, begin, end);
}
