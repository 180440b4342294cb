// From a graph to a plan: groups become kernels and steps, values get places in memory.
#pragma once

#include <string>
#include <vector>

#include "strata/compile/fuse/fusion_limits.h"
#include "strata/compile/llvm/target.h"
#include "strata/compile/plan/concurrent_launches.h"
#include "strata/compile/plan/launch_cost.h"
#include "strata/compile/plan/plan.h"
#include "strata/compile/plan/tile_pipelines.h"
#include "strata/ir/graph.h"
#include "strata/runtime/client.h"

namespace strata::compile {

/// Plans an isolated block without calls. `donated[i]`: argument i's memory may be taken for a
/// result. Tiles of products are for `target`.
Plan make_plan(const ir::Block& block, const std::vector<bool>& donated, const CpuTarget& target,
               const TilePipelineLimits& pipelines = {}, const SharingLimits& sharing = {},
               const ConcurrencyLimits& streams = {});

/// Gives every temporary a place in one arena, so that those alive at the same time do not overlap.
void assign_memory(Plan& plan);

/// The plan as text: buffers, steps, kernels by name. For `--explain` and tests.
std::string print(const Plan& plan);
/// Each launch that a driver has, in the order in which they stand in the plan: those of empty
/// grids and empty loops it has not. Large copies are among them (launch_cost.h).
std::vector<runtime::Launch> launches(const Plan& plan);
/// The cost of each launch of the plan that the CPU makes of the block.
std::vector<LaunchCost> launch_costs(const ir::Block& block);

}  // namespace strata::compile
