// The sharding of a reshaped value in explicit mode.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "strata/mesh/mesh.h"
#include "strata/partition/explicit/dim_axes.h"

namespace strata::spmd {

/// The axes of each new dimension where one dimension is split, some neighbours are merged into
/// one, or only sizes of 1 come and go; nothing where upstream asks for `out_sharding`. Source:
/// `_reshape_sharding_rule` of jax/_src/lax/lax.py.
std::optional<DimAxes> reshaped(const DimAxes& operand, const std::vector<std::int64_t>& before,
                                const std::vector<std::int64_t>& after,
                                const mesh::AbstractMesh& mesh);

}  // namespace strata::spmd
