// Kernels of loop groups: maps, reductions of rows, and what joins them.
//
// One grid point works on some rows. A row is done in passes: pass l computes everything that depends on l reductions
// before it, so softmax has three (maximum; exponentials and their sum; quotient). Values that a later pass reads are
// kept in a scratch row, or read back from the result they were stored to.
#pragma once

#include "strata/compile/kernel_build.h"
#include "strata/compile/llvm/target.h"

namespace strata::compile {

/// The kernels of a group of loops; with `any_size` none of a kind that short rows ask for (short_rows.h), for the same code serves other sizes.
Built build_loops(const Group& group, const Fusion& fusion, const CpuTarget& target, bool any_size = false);

}  // namespace strata::compile
