// Explicit mode: along which axes the devices hold addends of a value, or of its cotangent.
//
//   result_sums(multiply, operands, {{.unreduced = {"x"}}, {.reduced = {"x"}}}, mesh)
//                                                                  // {.unreduced = {"x"}}
//
// A value that is `unreduced` over an axis is the sum of what the devices along it hold; one that
// is `reduced` is whole on each, and its cotangent is unreduced: it says that the sum over the axis
// is still to come, so that it comes once for many gradients. Both are part of a type, beside the
// axes that cut dimensions. Source: the `*_ur_rule` functions of jax/_src/lax (lax.py, slicing.py)
// and utils.py, `call_ur_rule`, which tools/goldens/explicit_sharding.py asks. Deviation: a scalar
// is reduced with what it meets in an operation of any number of operands (upstream: of two).
#pragma once

#include <set>
#include <span>
#include <string>

#include "strata/mesh/mesh.h"
#include "strata/mesh/spec.h"
#include "strata/op/def.h"
#include "strata/partition/explicit/dim_axes.h"

namespace strata::spmd {

/// The axes of one value.
struct Sums {
  std::set<std::string> unreduced = {}, reduced = {};
  /// Of a constant or a scalar that was broadcast: it goes with what is reduced.
  bool follows = false;

  bool any() const { return !unreduced.empty() || !reduced.empty(); }
  bool operator==(const Sums& other) const {
    return unreduced == other.unreduced && reduced == other.reduced;
  }
};

/// The spec with these entries and these axes.
mesh::PartitionSpec spec_of(const DimAxes& axes, const Sums& sums);
/// What the spec says of them.
Sums sums_of(const mesh::PartitionSpec& spec);

/// Of every result of the operation. Throws Error that names the operation, the types and specs of
/// its operands and what to do, where an operand is addends and the operation does not commute with
/// a sum, and where operands disagree.
Sums result_sums(const op::Op& op, std::span<const DimAxes> operands, std::span<const Sums> sums,
                 const mesh::AbstractMesh& mesh);

/// Throws Error where the operation cannot give addends over `axes`: a contraction that is cut by
/// others, or on one side only; a sum of dimensions that these do not cut; a reshape of what is no
/// addend.
void expect_gives_addends(const op::Op& op, std::span<const DimAxes> operands,
                          std::span<const Sums> sums, const std::set<std::string>& axes);

}  // namespace strata::spmd
