// What the launches of a plan have to do, counted in their kernels: for a roofline (roofline.h).
#pragma once

#include <vector>

#include "strata/compile/plan/plan.h"
#include "strata/ir/graph.h"

namespace strata::compile {

/// The work of one run of a launch.
struct LaunchCost {
  double flops = 0;  // operations on floats; a fused multiply-add is two
  double slots = 0;  // lanes of 32 bits that vector instructions work on; a fused multiply-add is
                     // one, a quotient several
  double pairs = 0;  // lanes that `dot2` and `dot4` work on
  double tiles = 0;  // flops of calls of matrix tiles
  double read = 0, written = 0;  // bytes of the buffers, each element once
  bool parallel = false;
};

/// Whether a timed driver tells of a copy as of a launch; of small ones it does not, as the clock
/// would take longer than they.
inline bool is_timed(const Copy& copy) { return copy.bytes >= 4096; }

/// All grid points of a kernel. Bounds of loops that vary count with the middle of their ranges, a
/// while loop as one iteration, a branch by its longer arm.
LaunchCost cost_of(const loop::Kernel& kernel);
/// About how many lanes of 32 bits one thread could work on in the same time: some fifty a
/// nanosecond.
double lanes_of(const LaunchCost& work);
/// That of each launch of `launches(plan)` (make_plan.h). Of native kernels and copies only the
/// buffers are known.
std::vector<LaunchCost> launch_costs(const Plan& plan);

}  // namespace strata::compile
