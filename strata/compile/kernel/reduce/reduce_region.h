// Reductions with a general combiner: element after element in order, with lanes along the outputs
// where its region has no branches.
#pragma once

#include <span>

#include "strata/compile/kernel/kernel_builder.h"

namespace strata::compile {

/// As build_reductions (reduce_kernel.h), of one operation.
Built reduce_region(std::span<const ir::Op* const> ops, const Fusion& fusion, bool any_size);

}  // namespace strata::compile
