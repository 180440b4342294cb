// Products whose batch runs along memory in both operands (sum over i of x[i, j] * y[i, j], for
// each j): lanes are elements of the batch, each with the chains of its own rows and columns, over
// the terms in order. Tiles along rows and columns would read every operand here and there.
#pragma once

#include "strata/compile/kernel/dot/gemm_kind.h"
#include "strata/compile/kernel/kernel_builder.h"
#include "strata/compile/llvm/target.h"
#include "strata/op/def.h"

namespace strata::compile {

Built build_batch_vectorized_dot(const Group& group, const op::Contraction& c, const Fusion& fusion,
                                 const CpuTarget& target);

}  // namespace strata::compile
