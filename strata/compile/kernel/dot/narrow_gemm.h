// Builds kernels of narrow dots (gemm_kind.h): each vector lane computes one element of the result,
// in the memory order that follows from the dot's output layout (gemm_output.h).
#pragma once

#include "strata/compile/kernel/kernel_builder.h"

namespace strata::compile {

Built build_narrow_gemm(const Group& group, const Fusion& fusion);

}  // namespace strata::compile
