// Shardings in HLO's strings as those of Shardy: what JAX writes with Shardy switched off.
//
//   {devices=[4,2]<=[2,4]T(1,0)}                         // a tile for each device, in an order
//   {devices=[2,1,4]<=[8] last_tile_dim_replicate}       // the last dimension numbers copies
//
// All strings of a module become shardings of one mesh, `@gspmd`, whose axes are the parts of the
// devices' numbers that the strings tell apart. Source: xla/hlo/ir/tile_assignment.cc,
// hlo_sharding.cc.
#pragma once

#include <string_view>
#include <vector>

#include "strata/ir/graph.h"

namespace strata::spmd {

/// One such string.
struct HloSharding {
  bool is_tiled = false;              // else whole on every device, or on one
  std::vector<std::int64_t> tiles;    // how often each dimension is cut; then copies
  std::vector<std::int64_t> devices;  // the numbers 0, 1, ... in this shape ...
  std::vector<std::int64_t> order;    // ... transposed so, then seen in the shape `tiles`
};
/// Throws strata::Error for texts that are none; unsupported for lists of devices in an order that
/// no transposition gives, and for subgroups other than copies.
HloSharding parse_hlo_sharding(std::string_view text);

/// `mhlo.sharding` of arguments, results and operations, and custom calls `@Sharding`, in Shardy's
/// terms. Nothing where there are none. Throws as parse_hlo_sharding; unsupported for bodies
/// written for one device (`@SPMDFullToShardShape`), which JAX writes so only without Shardy.
void gspmd_to_shardy(ir::Module& module);

}  // namespace strata::spmd
