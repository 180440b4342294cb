// Kernels of loop groups: maps, reductions of rows, and what joins them.
// How they go is chosen here: by rows (row_kernel.h), by squares (tile_kernel.h), by pieces of rows
// (row_pieces.h), by blocks of short rows (row_blocks.h, short_rows.h), or as reductions that have
// no rows (reduce_kernel.h).
#pragma once

#include "strata/compile/kernel_build.h"
#include "strata/compile/llvm/target.h"

namespace strata::compile {

/// The kernels of a group of loops; with `any_size` none of a kind that short rows ask for
/// (short_rows.h), for the same code serves other sizes.
Built build_loops(const Group& group, const Fusion& fusion, const CpuTarget& target,
                  bool any_size = false);

}  // namespace strata::compile
