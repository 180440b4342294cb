// The types of a mesh's axes on sharding constraints: how a value of explicit mode is told from one
// that is constrained only. Private to this room.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/ir/graph.h"
#include "strata/mesh/spec.h"
#include "strata/partition/explicit/explicit.h"
#include "strata/partition/explicit/explicit_sums.h"

namespace strata::internal {

/// The operation that constrains the sharding of a value.
inline constexpr const char* kConstraint = "sdy.sharding_constraint";
/// On constraints: the mesh with the types of its axes, as text.
inline constexpr const char* kAxisTypes = "strata.axis_types";
/// On constraints: the axes over which the value is reduced, "x,y"; absent for none.
inline constexpr const char* kReduced = "strata.reduced";

/// The sharding of a typed array.
struct Typed {
  mesh::Mesh mesh;
  spmd::DimAxes axes;  // over Explicit axes
  spmd::Sums sums = {};

  mesh::PartitionSpec spec() const { return spmd::spec_of(axes, sums); }
};

/// Whether this process has met a mesh with Explicit axes; until then nothing here costs a thing.
bool has_explicit();
/// From here on it has, where an axis of the mesh is Explicit.
void use_explicit(const mesh::Mesh& mesh);
/// From here on it has.
void use_explicit();
/// Whether an axis is Explicit.
bool is_explicit(const mesh::Mesh& mesh);

/// The types of the axes, as kAxisTypes has them: a letter for each, "EAM".
std::string letters(const mesh::Mesh& mesh);

/// What a typed constraint says: its mesh, its axes, and which dimensions are open, as vmap leaves
/// those that it adds.
struct Said {
  Typed typed;
  std::vector<bool> open;
};
/// Whether it is a constraint with the types of axes.
bool is_typed(const ir::Op& op);
/// What such a constraint says.
Said said_by(const ir::Op& op);
/// The mesh of the first typed value in the block, which has these axes.
std::optional<mesh::Mesh> typed_mesh(const ir::Block& block);

}  // namespace strata::internal
