// Reductions of plain combiners with lanes along the outputs: of columns, in one phase or in two,
// and of few columns.
#pragma once

#include <span>

#include "strata/compile/kernel/kernel_builder.h"

namespace strata::compile {

/// As build_reductions (reduce_kernel.h).
Built reduce_columns(std::span<const ir::Op* const> ops, const Fusion& fusion, bool any_size);

}  // namespace strata::compile
