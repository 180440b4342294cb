// fft: the discrete Fourier transform of 1 to 3 dimensions, of any lengths.
//
// Buffers: input, result (complex numbers as pairs, in c64 or c128; the real side of RFFT and IRFFT as f32 or f64).
// Parameters: kind (0 FFT, 1 IFFT, 2 RFFT, 3 IRFFT), 1 for f64, dimensions, three lengths (of the real side), unused
// ones first and 1, the number of transforms, and how many of them a grid point does.
//
// Lengths whose prime factors are small go by mixed radix (fft_line.h), others by Bluestein's convolution. Everything is computed
// in f64, also for c64, which is then rounded once.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

#include "strata/base/thread_pool.h"
#include "strata/loop/kernel/fft_run.h"

extern "C" void strata_fft(void* const* buffers, std::int64_t begin, std::int64_t end);

namespace strata::loop::fft {

namespace {

/// The least distance from n on that leads columns through many places of a cache.
std::int64_t apart(std::int64_t n) { return n % (8 * kLanes) == 0 ? n + kLanes : n; }

}  // namespace

std::int64_t Job::rows() const { return lengths[0] * lengths[1]; }
std::int64_t Job::size() const { return rows() * lengths[2]; }
std::int64_t Job::line() const { return real() ? lengths[2] / 2 + 1 : lengths[2]; }
std::int64_t Job::row() const { return apart(whole_lanes(line())); }
std::int64_t Job::slab() const { return apart(lengths[1] * row()); }
std::int64_t Job::blocks(int dimension) const { return rows() / lengths[dimension] * (whole_lanes(line()) / kLanes); }
std::int64_t Job::aside() const { return by_slabs() ? 2 * slab() : rows() > 1 && is_large() && row() <= 1 << 12 ? 2 * kLanes * row() : 0; }
bool Job::by_slabs() const { return lengths[0] >= 16 && lengths[1] > 1 && slab() <= 1 << 15; }
std::int64_t Job::units(Step step) const {
  if (step == Step::middle) return lengths[0] == 1 || lengths[1] == 1 || by_slabs() ? 0 : blocks(1);
  if (step == Step::in && by_slabs()) return lengths[0];
  return step == Step::first ? blocks(first()) : rows();
}
bool Job::real() const { return kind == kRealForward || kind == kRealInverse; }

const InstructionSet& instruction_set() {
  static const InstructionSet& best = kAvx512.present() ? kAvx512 : kAvx2.present() ? kAvx2 : kPortable;
  return best;
}

void transform_planes(const Plan& plan, double* re, double* im, double* scratch) { instruction_set().planes(plan, re, im, scratch); }

namespace {

struct Params {
  std::int64_t kind, wide, rank, lengths[3], transforms, together;
};

/// A thread's scratch; what is not large stays for the next call, which would wait for fresh pages.
class Workspace {
 public:
  ~Workspace() { release(); }
  double* of(std::int64_t numbers) {
    if (numbers <= numbers_) return at_;
    release();
    const std::size_t bytes = static_cast<std::size_t>(numbers) * sizeof(double);
    at_ = static_cast<double*>(::operator new[](bytes, alignment(numbers)));
    numbers_ = numbers;
    if (bytes >= kPage) madvise(at_, bytes, MADV_HUGEPAGE);  // columns are walked, with small pages one for each row
    std::fill_n(at_, numbers, 0.0);
    return at_;
  }
  void trim() {
    if (numbers_ > kKept) release();
  }

 private:
  static constexpr std::int64_t kKept = 1 << 23;
  static constexpr std::size_t kPage = 1 << 21;
  static std::align_val_t alignment(std::int64_t numbers) {
    return std::align_val_t{static_cast<std::size_t>(numbers) * sizeof(double) >= kPage ? kPage : 64};
  }
  void release() {
    ::operator delete[](at_, alignment(numbers_));
    at_ = nullptr, numbers_ = 0;
  }
  double* at_ = nullptr;
  std::int64_t numbers_ = 0;
};

/// A transform that a thread would take long for, and that has lines for others.
bool is_for_all_threads(const Params& p, const Job& job) { return p.transforms == 1 && job.rows() > 1 && job.size() >= 1 << 15; }

/// One large transform by all threads, step by step. Which lines are done together does not depend on how many there are.
template <class T>
void run_steps(const Job& job, std::int64_t scratch, void (*part)(const Job&, Step, std::int64_t, std::int64_t, const T*, double*, T*), const T* in, T* out) {
  thread_local Workspace whole;
  struct Work {
    const Job& job;
    std::int64_t scratch;
    decltype(part) run;
    const T* in;
    double* between;
    T* out;
    Step step;
  } work{job, scratch, part, in, whole.of(job.between()), out, Step::in};
  for (Step step : kSteps) {
    const std::int64_t units = job.units(step);
    work.step = step;
    parallel_for(
        units, step == Step::in && job.by_slabs() ? units / 64 + 1 : whole_lanes(units / 64 + 1),
        [](void* context, std::int64_t begin, std::int64_t end) {
          const Work& w = *static_cast<Work*>(context);
          thread_local Workspace mine;
          Job job = w.job;
          job.scratch = mine.of(w.scratch);
          w.run(job, w.step, begin, end, w.in, w.between, w.out);
          mine.trim();
        },
        &work);
  }
  whole.trim();
}

}  // namespace

void run_grid(const InstructionSet& set, void* const* buffers, std::int64_t begin, std::int64_t end) {
  const Params& p = *static_cast<const Params*>(buffers[2]);
  thread_local Workspace workspace;
  begin *= p.together;
  end = std::min(end * p.together, p.transforms);
  if (begin >= end) return;  // lengths may be 0 then
  Job job{p.kind, {p.lengths[0], p.lengths[1], p.lengths[2]}, {}, end - begin, nullptr};
  std::shared_ptr<const Plan> plans[3];
  std::int64_t scratch = 0;
  for (int d = 0; d < 3; ++d) {
    if (d < 2 && p.lengths[d] == 1) continue;
    plans[d] = plan_of(p.lengths[d], d == 2 && job.real() && p.lengths[d] % 2 == 0);
    job.plans[d] = plans[d].get();
    scratch = std::max(scratch, plans[d]->scratch + 2 * whole_lanes(p.lengths[d]));
  }
  const bool in_steps = is_for_all_threads(p, job);
  if (job.rows() > 1 && !in_steps) scratch += job.between();
  scratch += job.aside();
  if (job.real()) scratch += 4 * real_room(*plans[2]) * lines_together(*plans[2]);  // fft_real.h
  if (in_steps) {
    if (p.wide) return run_steps(job, scratch, set.part_f64, static_cast<const double*>(buffers[0]), static_cast<double*>(buffers[1]));
    return run_steps(job, scratch, set.part_f32, static_cast<const float*>(buffers[0]), static_cast<float*>(buffers[1]));
  }
  job.scratch = workspace.of(scratch);
  std::int64_t complex_numbers = 2 * job.rows() * job.line();
  std::int64_t in = p.kind == kRealForward ? job.size() : complex_numbers, out = p.kind == kRealInverse ? job.size() : complex_numbers;
  if (p.wide)
    set.run_f64(job, static_cast<const double*>(buffers[0]) + begin * in, static_cast<double*>(buffers[1]) + begin * out);
  else
    set.run_f32(job, static_cast<const float*>(buffers[0]) + begin * in, static_cast<float*>(buffers[1]) + begin * out);
  workspace.trim();
}

}  // namespace strata::loop::fft

extern "C" void strata_fft(void* const* buffers, std::int64_t begin, std::int64_t end) {
  strata::loop::fft::run_grid(strata::loop::fft::instruction_set(), buffers, begin, end);
}
