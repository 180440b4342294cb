// Loops over scalars as one kernel: carries in registers, no step of the driver inside.
#pragma once

#include <optional>

#include "strata/compile/kernel/kernel_builder.h"

namespace strata::compile {

/// The kernel of a while or scan whose carries, slices and operations are all scalar; nothing for
/// any other.
std::optional<Built> build_scalar_loop(const ir::Op& op, const Fusion& fusion);

}  // namespace strata::compile
