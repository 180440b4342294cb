// How a value is sharded in explicit mode, dimension by dimension.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "strata/mesh/spec.h"

namespace strata::spmd {

/// For each dimension the axes that cut it, major first. As long as the value's rank.
using DimAxes = std::vector<std::vector<std::string>>;

/// The spec with these entries; `rank` entries of a spec.
mesh::PartitionSpec spec_of(const DimAxes& axes);
DimAxes axes_of(const mesh::PartitionSpec& spec, std::size_t rank);

}  // namespace strata::spmd
