// Maps that read memory across the grain: where lanes of the result's last dimension would be far
// apart in an operand that is contiguous along another dimension (a transpose, whatever it is
// called), squares of both dimensions are read along the operand, turned in registers and written
// along the result.
#pragma once

#include <optional>

#include "strata/compile/kernel/kernel_builder.h"
#include "strata/compile/llvm/target.h"

namespace strata::compile {

/// Kernels for a group without reductions or row values, or nothing where no read is so.
std::optional<Built> build_transpose_tiles(const Group& group, const Fusion& fusion,
                                           const CpuTarget& target);

}  // namespace strata::compile
