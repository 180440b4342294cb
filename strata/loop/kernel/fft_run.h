// Transforms by plans, once for each instruction set: the same operations lane by lane, fused multiply-adds where the source says
// so and nowhere else, hence the same bits from each of them.
#pragma once

#include <cstdint>

#include "strata/loop/kernel/fft_plan.h"

namespace strata::loop::fft {

enum Kind : std::int64_t { kForward, kInverse, kRealForward, kRealInverse };

/// A transform of several dimensions in steps, each of units that do not depend on each other: lines of what is read, columns of dimension 1 (of three),
/// columns of dimension first(), lines of what is written.
enum class Step { in, middle, first, out };
constexpr Step kSteps[] = {Step::in, Step::middle, Step::first, Step::out};

/// `count` transforms of equal lengths, one after the other in memory.
struct Job {
  std::int64_t kind;
  std::int64_t lengths[3];  // of the real side; unused ones first and 1
  const Plan* plans[3];     // plans[2] is kReal where one side is real and its length even
  std::int64_t count;
  double* scratch;

  std::int64_t rows() const;  // lines of the last dimension
  std::int64_t size() const;  // of a transform, on the real side
  std::int64_t line() const;  // complex numbers of a line
  bool real() const;
  /// Numbers between neighbours along dimension 0 or 1, and how many blocks of at most kLanes columns lie along it.
  std::int64_t stride(int dimension) const;
  std::int64_t blocks(int dimension) const;
  /// The dimension that comes last of those before the lines: 0, or 1 where there are two.
  int first() const { return lengths[0] == 1 ? 1 : 0; }
  /// 0 for a step that a transform does not have.
  std::int64_t units(Step) const;
};

struct InstructionSet {
  const char* name;
  bool (*present)();
  void (*run_f32)(const Job&, const float* in, float* out);
  void (*run_f64)(const Job&, const double* in, double* out);
  /// Units [begin, end) of a step of one transform; `planes`: 2 whole_lanes(rows() line()) numbers, the same for all of its steps.
  void (*part_f32)(const Job&, Step, std::int64_t begin, std::int64_t end, const float* in, double* planes, float* out);
  void (*part_f64)(const Job&, Step, std::int64_t begin, std::int64_t end, const double* in, double* planes, double* out);
  /// In place: a line of whole lanes, real and imaginary parts apart.
  void (*planes)(const Plan&, double* re, double* im, double* scratch);
};
extern const InstructionSet kPortable, kAvx2, kAvx512;

/// The best one that this CPU has.
const InstructionSet& instruction_set();
/// What strata_fft does (fft.cc).
void run_grid(const InstructionSet& set, void* const* buffers, std::int64_t begin, std::int64_t end);
void transform_planes(const Plan& plan, double* re, double* im, double* scratch);

}  // namespace strata::loop::fft
