// The plain twin of the native driver: walks a plan's steps.
#pragma once

#include <functional>
#include <span>

#include "strata/compile/plan/plan.h"

namespace strata::compile {

/// Runs kernel number `k` on buffers over its whole grid.
using RunKernel = std::function<void(int k, std::span<void* const> buffers)>;

/// Runs the plan's steps in order. `context` as for the driver; with no `run`, kernels run in the
/// loop interpreter.
void interpret(const Plan& plan, const RunContext& context, const RunKernel& run = nullptr);

}  // namespace strata::compile
