// Squares of maps that read memory across the grain (transpose_tiling.h) where the result's last
// dimension is too short for one: all dimensions behind the one that the operand is contiguous
// along are taken as one. Columns of a square then are anywhere, each where its own element says.
#pragma once

#include <optional>

#include "strata/compile/fuse/access_strides.h"
#include "strata/compile/llvm/target.h"

namespace strata::compile {

/// Kernels for a group without reductions or row values whose joined `dimensions` are read so by
/// `reads`, contiguous along dimension y; nothing where squares of the last dimension are as good,
/// or a read is neither so nor along the result.
std::optional<Built> build_flat_transpose_tiles(const Group& group, const Fusion& fusion,
                                                const std::vector<std::int64_t>& dimensions,
                                                const std::vector<Read>& reads, std::size_t y,
                                                const CpuTarget& target);

}  // namespace strata::compile
