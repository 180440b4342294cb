// Transforms by plans, once for each instruction set: the same operations lane by lane, fused
// multiply-adds where the source says so and nowhere else, hence the same bits from each of them.
#pragma once

#include <cstdint>

#include "strata/loop/kernel/fft/fft_plan.h"

namespace strata::loop::fft {

enum Kind : std::int64_t { kForward, kInverse, kRealForward, kRealInverse };

/// A transform of several dimensions in steps, each of units that do not depend on each other:
/// lines of what is read (or slabs, by_slabs), columns of dimension 1 (of three, if not by slabs),
/// columns of dimension first(), lines of what is written.
enum class Step { in, middle, first, out };
constexpr Step kSteps[] = {Step::in, Step::middle, Step::first, Step::out};

/// `count` transforms of equal lengths, one after the other in memory.
template <class N>
struct Job {
  std::int64_t kind;
  std::int64_t lengths[3];  // of the real side; unused ones first and 1
  const Plan<N>* plans[3];  // plans[2] is kReal where one side is real and its length even
  std::int64_t count;
  N* scratch;

  std::int64_t rows() const;  // lines of the last dimension
  std::int64_t size() const;  // of a transform, on the real side
  std::int64_t line() const;  // complex numbers of a line
  bool real() const;
  /// Numbers between neighbours along dimensions 1 and 0 of what is between the steps: whole blocks
  /// of kLanes, and never a KiB apart, for columns so would all fall on few places of a cache. And
  /// how many there are in all.
  std::int64_t row() const;
  std::int64_t slab() const;
  std::int64_t between() const { return 2 * lengths[0] * slab(); }
  /// That does not stay in the caches, and is_huge: nor does the result. What is written goes past
  /// them then, line by line.
  bool is_large() const { return bytes_between() > 1 << 24; }
  bool is_huge() const { return bytes_between() > 1 << 25; }
  std::int64_t bytes_between() const { return between() * static_cast<std::int64_t>(sizeof(N)); }
  /// Numbers of a slab (by_slabs), or of some lines that go past the caches, on the way to what is
  /// between the steps.
  std::int64_t aside() const;
  /// How many blocks of at most kLanes columns run along dimension 0 or 1.
  std::int64_t blocks(int dimension) const;
  /// Dimension 1 goes with the lines, slab by slab, where a slab stays in a core's cache and there
  /// are many.
  bool by_slabs() const;
  /// The dimension that comes last of those before the lines: 0, or 1 where there are two.
  int first() const { return lengths[0] == 1 ? 1 : 0; }
  /// 0 for a step that a transform does not have.
  std::int64_t units(Step) const;
};

template <class N>
struct Transforms {
  void (*run)(const Job<N>&, const N* in, N* out);
  /// Units [begin, end) of a step of one transform; `between`: as many numbers as the job says, the
  /// same for all of its steps.
  void (*part)(const Job<N>&, Step, std::int64_t begin, std::int64_t end, const N* in, N* between,
               N* out);
};

struct InstructionSet {
  const char* name;
  bool (*present)();
  Transforms<float> f32;
  Transforms<double> f64;
  /// In place: a line of whole lanes, real and imaginary parts apart.
  void (*planes)(const Plan<double>&, double* re, double* im, double* scratch);
};
extern const InstructionSet kPortable, kAvx2, kAvx512;

/// The best one that this CPU has.
const InstructionSet& instruction_set();
/// What strata_fft does (fft.cc).
void run_grid(const InstructionSet& set, void* const* buffers, std::int64_t begin,
              std::int64_t end);
void transform_planes(const Plan<double>& plan, double* re, double* im, double* scratch);

}  // namespace strata::loop::fft
