// A program over several meshes of the same devices as one over a mesh that all of them are views
// of.
//
//   @a = <["x"=2, "y"=2]>, @b = <["z"=4]>   ->   @one_mesh = <["_0"=2, "_1"=2]>
//   <@b, [{"z"}]>                           ->   <@one_mesh, [{"_0", "_1"}]>
//
// The numbers of the devices are cut into digits so that every axis, or part of one, that a
// sharding names is a list of them. JAX writes such programs where a value goes from one
// mesh to another, and where meshes of types and of arrays have other names.
#pragma once

#include "strata/ir/graph.h"

namespace strata::spmd {

/// Rewrites the shardings of a module whose functions name more than one mesh. Leaves it as it is
/// where there is one mesh, and where axes are no lists of digits (a mesh that lists devices
/// backwards, sizes that do not divide each other), which partition_program then refuses.
void to_one_mesh(ir::Module& module);

}  // namespace strata::spmd
