// Explicit mode: how the result of an operation is sharded, from how its operands are.
//
//   explicit_results(add, {{{"x"}, {}}, {{}, {"y"}}}, mesh)     // {{{"x"}, {"y"}}}
//
// Axes that are Explicit are part of a value's type: tracing computes them operation by operation,
// and asks where it would have to choose. The rules follow from the factors of definitions
// (op::Factors), but where JAX's are narrower. Source: the `*_sharding_rule` functions of
// jax/_src/lax (lax.py, slicing.py), which tools/goldens/explicit_sharding.py asks. Deviations: an
// operation without factors drops the axes of its operands where upstream refuses it.
#pragma once

#include <span>
#include <vector>

#include "strata/mesh/mesh.h"
#include "strata/op/def.h"
#include "strata/partition/explicit/dim_axes.h"

namespace strata::spmd {

/// The sharding of each result. Throws Error that names the operation, the types and specs of its
/// operands and what to do, where operands disagree, where the result is ambiguous (a contraction
/// cut on both sides, a reshape of several cut dimensions), where a dimension must be whole or its
/// new size does not divide. Loops and branches give no axes: who traced their regions knows.
std::vector<DimAxes> explicit_results(const op::Op& op, std::span<const DimAxes> operands,
                                      const mesh::AbstractMesh& mesh);

}  // namespace strata::spmd
