// Kernels of reductions that stand alone: over leading or scattered dimensions, of few long rows,
// or with a general combiner; several over the same dimensions of arrays of one shape side by side.
// What produces their elements is still computed in place.
#pragma once

#include <span>

#include "strata/compile/kernel/kernel_builder.h"

namespace strata::compile {

/// One operation, or several of plain combiners, none of which reads another's result. `any_size`:
/// of one structure there are to be few kernels.
Built build_reductions(std::span<const ir::Op* const> ops, const Fusion& fusion, bool any_size);

}  // namespace strata::compile
