// From a graph to a plan: groups become kernels and steps, values get places in memory.
#pragma once

#include <string>
#include <vector>

#include "strata/compile/chains.h"
#include "strata/compile/llvm/target.h"
#include "strata/compile/plan.h"
#include "strata/compile/share_kernels.h"
#include "strata/compile/strands.h"
#include "strata/ir/graph.h"
#include "strata/runtime/client.h"

namespace strata::compile {

/// Plans an isolated block without calls. `donated[i]`: argument i's memory may be taken for a
/// result. Tiles of products are for `target`.
Plan make_plan(const ir::Block& block, const std::vector<bool>& donated, const CpuTarget& target,
               const ChainLimits& chains = {}, const SharingLimits& sharing = {},
               const StrandLimits& strands = {});

/// Gives every temporary a place in one arena, so that those alive at the same time do not overlap.
void assign_memory(Plan& plan);

/// The plan as text: buffers, steps, kernels by name. For `--explain` and tests.
std::string print(const Plan& plan);
/// Each launch that a driver has, in the order in which they stand in the plan: those of empty
/// grids and empty loops it has not. Large copies are among them (launch_work.h).
std::vector<runtime::Launch> launches(const Plan& plan);

}  // namespace strata::compile
