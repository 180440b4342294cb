// Kernels of rows that go one after the other. A grid point works on some rows, a row is done in
// passes (row_passes.h). Values that a later pass reads are kept in a scratch row, or read back
// from the result they were stored to.
#pragma once

#include "strata/compile/kernel_build.h"

namespace strata::compile {

/// The code of a group of so many rows, whose maps go in strips of `lanes`. `any_size`: it serves
/// other lengths, too. `looks_up`: it may be a map that reads where numbers say.
void build_rows(const Group& group, const Fusion& fusion, std::int64_t rows, int lanes,
                bool any_size, bool looks_up, BuiltKernel& built);

}  // namespace strata::compile
