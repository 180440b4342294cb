// Replaces replica groups that name mesh axes by explicit lists of devices.
//
//   #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y">]>
//   // of <["x"=2, "y"=2]>: [[0, 1], [2, 3]]
//
// JAX writes them so from 0.12 on. Devices of a group differ along these axes alone and stand in
// the order of the axes as they are listed, major first; groups in the order of the mesh. Source:
// ReplicaGroupMeshAxesAttr of stablehlo/dialect/StablehloAttrs.td.
#pragma once

#include "strata/ir/graph.h"

namespace strata::spmd {

/// Rewrites `replica_groups` of all operations. Throws strata::Error for texts that are none,
/// meshes and axes that are not there.
void list_groups(ir::Module& module);

}  // namespace strata::spmd
