// Kernels that operations write themselves (op::CustomKernel).
#pragma once

#include "strata/compile/kernel/kernel_builder.h"

namespace strata::compile {

Built build_custom_kernel(const ir::Op& op, const Fusion& fusion);

}  // namespace strata::compile
