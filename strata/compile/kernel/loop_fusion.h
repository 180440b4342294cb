// Kernels of loop groups: maps, reductions of rows, and what joins them.
// How they go is chosen here: by rows (row_kernel.h), by squares (transpose_tiling.h), by pieces of
// rows (piecewise_rows.h), by blocks of short rows (row_blocking.h, small_inner_dim.h), or as
// reductions that have no rows (reduce_kernel.h).
#pragma once

#include "strata/compile/kernel/kernel_builder.h"
#include "strata/compile/llvm/target.h"

namespace strata::compile {

/// The kernels of a group of loops; with `any_size` none of a kind that short rows ask for
/// (small_inner_dim.h), for the same code serves other sizes.
Built build_loop_fusion(const Group& group, const Fusion& fusion, const CpuTarget& target,
                        bool any_size = false);

}  // namespace strata::compile
