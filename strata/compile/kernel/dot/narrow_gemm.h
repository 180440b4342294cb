// Narrow products (gemm_output.h): a lane for each element of the result, as it lies in memory
// behind the product's moves.
#pragma once

#include "strata/compile/kernel/kernel_builder.h"

namespace strata::compile {

Built build_narrow_gemm(const Group& group, const Fusion& fusion);

}  // namespace strata::compile
