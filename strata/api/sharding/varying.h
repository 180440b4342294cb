// Along which axes of a mesh values may differ from device to device within shard_map (upstream's
// varying manual axes). Private to this room.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "strata/api/transform/axes.h"
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
/// x, where the axis is one of a shard_map's mesh with each device's own value on that device, so
/// that no later use moves the values of all devices elsewhere; else x.
ir::Value* on_own_device(ir::Builder& b, ir::Value* x, const std::string& axis);
/// Whether that shard_map follows what varies along it (`check_vma`): cotangents of what is the
/// same on all devices are then sums over the devices, and psum gives back what it got.
bool is_followed(const std::string& name);

/// Those axes, outermost first.
std::vector<BoundAxis> followed_axes();

/// A program for derivatives within shard_maps that follow what varies: `program` with a place, a
/// scalar i32, as one more argument for each of `axes`. Its transpose gives cotangents that vary as
/// the arguments do. `gathered`: which arguments an all_gather made, whose copies count as
/// different.
std::unique_ptr<ir::Block> with_followed_axes(
    const ir::Block& program, const std::vector<std::pair<std::string, std::int64_t>>& axes,
    const std::vector<bool>& gathered);
/// Whether the value is made from an all_gather over an axis, without a sum over it since.
bool is_gathered(const ir::Value& value);

}  // namespace strata::internal
