// Kernels of reductions that stand alone: over leading or scattered dimensions, of few long rows, or with a general
// combiner. What produces their elements is still computed in place.
#pragma once

#include "strata/compile/kernel_build.h"

namespace strata::compile {

Built build_reduction(const ir::Op& op, const Fusion& fusion);

}  // namespace strata::compile
