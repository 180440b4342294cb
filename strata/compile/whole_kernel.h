// Kernels that operations write themselves (op::Whole).
#pragma once

#include "strata/compile/kernel_build.h"

namespace strata::compile {

Built build_whole(const ir::Op& op, const Fusion& fusion);

}  // namespace strata::compile
