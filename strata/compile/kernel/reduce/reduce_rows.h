// Reductions of plain combiners with lanes along the reduced elements: of rows, and of rows that
// are in runs between those of others.
#pragma once

#include <span>

#include "strata/compile/kernel/kernel_builder.h"

namespace strata::compile {

/// As build_reductions (reduce_kernel.h).
Built reduce_rows(std::span<const ir::Op* const> ops, const Fusion& fusion, bool any_size);

}  // namespace strata::compile
