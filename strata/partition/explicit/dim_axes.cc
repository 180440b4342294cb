#include "strata/partition/explicit/dim_axes.h"

#include <algorithm>
#include <utility>

namespace strata::spmd {

mesh::PartitionSpec spec_of(const DimAxes& axes) {
  std::vector<mesh::SpecEntry> entries(axes.size());
  for (std::size_t d = 0; d < axes.size(); ++d) {
    entries[d].axes = axes[d];
    entries[d].tuple = axes[d].size() > 1;
  }
  return mesh::PartitionSpec(std::move(entries));
}

DimAxes axes_of(const mesh::PartitionSpec& spec, std::size_t rank) {
  DimAxes out(rank);
  for (std::size_t d = 0; d < std::min(rank, spec.entries().size()); ++d)
    out[d] = spec.entries()[d].axes;
  return out;
}

}  // namespace strata::spmd
