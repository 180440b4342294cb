// Machine code for a plan: its kernels and the driver that runs them.
//
//   DriverFn driver = compile_plan(plan);
//   run_driver(driver, context);
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "strata/compile/plan.h"

namespace strata::compile {

using DriverFn = void (*)(const RunContext* context);

struct CompilePlanOptions {
  bool timed = false;  // launches are timed: see launch_times
};

/// A driver, and what keeps its code and its kernels' loaded.
struct Driver {
  DriverFn run = nullptr;
  std::vector<std::shared_ptr<void>> code;
};

/// Kernels and driver are made in parallel and cached as compile_kernels.h says. The plan may go afterwards.
Driver compile_plan(const Plan& plan, const CompilePlanOptions& options = {});

/// Runs the driver on this thread and the pool, in the default floating-point environment.
void run_driver(DriverFn driver, const RunContext& context);

/// Time spent in the launches of timed drivers since the last reset, by their order in the plan. For one timed plan at a
/// time.
struct LaunchTime {
  std::int64_t runs = 0;
  double seconds = 0;
};
std::vector<LaunchTime> launch_times();
void reset_launch_times();

}  // namespace strata::compile
