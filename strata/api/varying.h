// Along which axes of a mesh values may differ from device to device within shard_map (upstream's
// varying manual axes). Private to this room.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "strata/ir/graph.h"

namespace strata::internal {

using AxisSet = std::set<std::string>;

/// For each result of the block the axes that it varies along, when its arguments vary along these.
/// Operations give what their operands together vary along; over an axis of these names
/// axis_reduce takes it away, and axis_gather, axis_exchange, axis_permute and axis_vary add it
/// (a gather that is known to be the same takes it away). Loops are followed until their carries
/// vary along no more; what a predicate varies along its results do. Throws Error for an axis_vary
/// of what varies already.
std::vector<AxisSet> varying_results(const ir::Block& block, const std::vector<AxisSet>& arguments,
                                     const AxisSet& names);

/// Whether a shard_map around binds the axis.
bool is_mesh_axis(const std::string& name);

}  // namespace strata::internal
