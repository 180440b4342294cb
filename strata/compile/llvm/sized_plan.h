// A plan whose machine code serves every size: kernels with their sizes apart (loop/sizes.h), and
// steps that are walked instead of compiled.
//
// For operations outside of jit, which meet new shapes all the time: where the structure is known,
// a new shape costs its plan and no code. A call costs some nanoseconds more than a compiled
// driver's.
#pragma once

#include <memory>
#include <vector>

#include "strata/compile/llvm/compile_kernels.h"
#include "strata/compile/plan/plan.h"

namespace strata::compile {

class SizedPlan {
 public:
  /// Null for a plan with loops, branches or chains: whose steps are worth a driver.
  static std::shared_ptr<const SizedPlan> make(const Plan& plan);
  /// Runs the steps, in the environment that run_driver makes.
  void run(const RunContext& context) const;

 private:
  /// One buffer of a step.
  struct Place {
    PlanBuffer::Kind kind;
    int number;
    std::int64_t offset;
  };
  /// A kernel, or a native one, on all points of its grid; without a function a copy from its first
  /// place to its second.
  struct Call {
    KernelFn function = nullptr;
    std::vector<Place> places;
    std::vector<std::int64_t>
        numbers;  // behind the buffers: sizes, a native kernel's parameters; of a copy its bytes
    bool parallel = false, brief = false, may_fail = false;
    std::int64_t grid = 1, grain = 1;
  };
  class Maker;
  static std::byte* address(const Place& place, const RunContext& context);

  std::vector<Call> calls_;
  std::vector<std::shared_ptr<void>> code_;
};

}  // namespace strata::compile
