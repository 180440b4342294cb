// Machine code for a plan: its kernels and the driver that runs them.
//
//   Driver driver = compile_plan(plan);
//   run_driver(driver.run, context);
#pragma once

#include <memory>
#include <vector>

#include "strata/compile/llvm/sized_plan.h"
#include "strata/compile/plan/plan.h"
#include "strata/runtime/client.h"

namespace strata::compile {

using DriverFn = void (*)(const RunContext* context);

struct CompilePlanOptions {
  bool timed = false;     // run_driver can tell when each launch ran
  bool any_size = false;  // the code serves plans that differ in sizes alone (sized_plan.h), but
                          // for timed ones and those with loops
};

/// A driver, and what keeps its code and its kernels' loaded.
struct Driver {
  DriverFn run = nullptr;
  std::vector<std::shared_ptr<void>> code;
  std::shared_ptr<const SizedPlan> sized;  // instead of `run`
};

/// Kernels and driver are made in parallel and cached as compile_kernels.h says. The plan may go
/// afterwards.
Driver compile_plan(const Plan& plan, const CompilePlanOptions& options = {});

/// The code of a plan past all caches, for people: the object file of each kernel, of equal ones
/// once, and of the driver; or their assembly.
std::vector<std::string> plan_code(const Plan& plan, bool assembly);

/// Runs the driver on this thread and the pool, in the default floating-point environment. Adds to
/// `times`, if given, when each launch of a timed driver ran: numbers are those of launches(plan).
void run_driver(DriverFn driver, const RunContext& context, runtime::LaunchTimes* times = nullptr);
void run_driver(const Driver& driver, const RunContext& context,
                runtime::LaunchTimes* times = nullptr);

}  // namespace strata::compile
