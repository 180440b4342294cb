// Reductions of columns whose elements are behind each other in memory: of a transposed array over
// its first dimension.
//
// Lanes along the outputs would find each element in a line of its own, of which the next ones want
// the rest when it is gone. So eight columns go together, by squares of their next eight elements
// that are turned in registers, and each column's elements are combined in their order (4096 x 2048
// f32, transposed, over the first dimension: 14.7 ms by lanes along the outputs, 1.1 so; two
// threads of a Zen 3).
#pragma once

#include <optional>
#include <span>

#include "strata/compile/kernel/kernel_builder.h"

namespace strata::compile {

/// As build_reductions (reduce_kernel.h), of reductions whose order has one lane; nothing where
/// they are not so.
std::optional<Built> reduce_transposed(std::span<const ir::Op* const> ops, const Fusion& fusion,
                                       bool any_size);

}  // namespace strata::compile
