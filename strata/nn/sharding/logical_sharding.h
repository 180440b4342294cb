// Names of an array's dimensions, and rules by which they become axes of a mesh.
//
//   nn::LogicalMesh m(mesh, {{"batch", {"data", "fsdp"}}, {"embed", {"fsdp"}}, {"mlp",
//   {"tensor"}}}); m.spec({"embed", "mlp"})                              // P('fsdp', 'tensor')
//   nn::LogicalMeshScope here(m);
//   x = nn::with_logical_constraint(x, {"batch", "", "embed"});
//
// Models say by name how their activations are sharded; outside of a scope that says nothing, so
// that one model serves any mesh and none. Source: flax.linen.logical_to_mesh_axes and
// with_logical_constraint (flax/linen/spmd.py, 0.12.8), as MaxText uses them
// (maxtext/utils/sharding.py).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "strata/api/sharding/sharding.h"
#include "strata/nn/sharding/sharding.h"

namespace strata::nn {

/// A mesh with rules.
class LogicalMesh {
 public:
  /// Several rules may have one name. Axes that the mesh lacks are passed over, as those of size 1.
  LogicalMesh(mesh::Mesh mesh, std::vector<AxisRule> rules);

  /// The mesh.
  const mesh::Mesh& mesh() const { return mesh_; }
  /// The rules in their order.
  const std::vector<AxisRule>& rules() const { return rules_; }
  /// How dimensions of these names are cut: rules are asked in their order, and the first one of a
  /// name whose axes no dimension has yet is taken. A name without a rule, and "", are whole.
  /// Entries of whole dimensions at the end are left out.
  mesh::PartitionSpec spec(const std::vector<std::string>& names) const;
  /// `spec` on the mesh.
  mesh::NamedSharding sharding(const std::vector<std::string>& names) const {
    return mesh::NamedSharding(mesh_, spec(names));
  }

 private:
  mesh::Mesh mesh_;
  std::vector<AxisRule> rules_;
};

/// While it lives, `with_logical_constraint` on this thread speaks of that mesh, which has to live
/// as long.
class LogicalMeshScope {
 public:
  explicit LogicalMeshScope(const LogicalMesh& mesh);
  ~LogicalMeshScope();
  LogicalMeshScope(const LogicalMeshScope&) = delete;
  LogicalMeshScope& operator=(const LogicalMeshScope&) = delete;

 private:
  const LogicalMesh* before_;
};
/// That of this thread; null outside of all scopes.
const LogicalMesh* current_logical_mesh();

/// x, constrained to the sharding that its dimensions' names give (one for each, "" for one that is
/// whole) where a scope says what they mean; itself elsewhere. Throws Error, with names, shape and
/// axes, for another number of names than dimensions, and for a size that the axes do not divide.
Array with_logical_constraint(const Array& x, std::initializer_list<const char*> names);

}  // namespace strata::nn
