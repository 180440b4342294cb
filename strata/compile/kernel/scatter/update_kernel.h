// Kernels of operations that change some elements of their first operand (scatter,
// dynamic_update_slice). The plan puts operand 0 into the result's memory before; the kernel writes
// the updates.
#pragma once

#include "strata/compile/kernel/kernel_builder.h"

namespace strata::compile {

Built build_update(const ir::Op& op, const Fusion& fusion);

}  // namespace strata::compile
