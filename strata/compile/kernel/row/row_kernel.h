// Kernels of rows that go one after the other. A grid point works on some rows, a row is done in
// passes (row_passes.h). Values that a later pass reads are kept in a scratch row, or read back
// from the result they were stored to.
#pragma once

#include "strata/compile/kernel/kernel_builder.h"

namespace strata::compile {

/// The code of a group of so many rows, whose maps go in strips of `lanes`. `any_size`: it serves
/// other lengths, too. `has_gathers`: it may be a map that reads where numbers say.
void build_row_kernel(const Group& group, const Fusion& fusion, std::int64_t rows, int lanes,
                      bool any_size, bool has_gathers, BuiltKernel& built);

}  // namespace strata::compile
