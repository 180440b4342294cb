// The place of the greatest or the least of rows, in lanes.
#pragma once

#include <optional>
#include <span>

#include "strata/compile/kernel/kernel_builder.h"

namespace strata::compile {

/// As build_reductions (reduce_kernel.h), of one operation; nothing where its region is no such
/// search (op/reduce/reduce.h), or rows are too short for lanes along them.
std::optional<Built> build_arg_min_max(std::span<const ir::Op* const> ops, const Fusion& fusion,
                                       bool any_size);

}  // namespace strata::compile
