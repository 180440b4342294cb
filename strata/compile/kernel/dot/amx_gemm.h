// Products of bf16 by the processor's matrix tiles (docs/exceptions.md): blocks of both operands
// are laid out in scratch, the left one as rows of pairs along k, the right one as rows of pairs of
// k; calls of loop/tiles.h turn what is otherwise and multiply.
#pragma once

#include "strata/compile/kernel/kernel_builder.h"
#include "strata/compile/llvm/target.h"
#include "strata/op/linalg/dot_general.h"

namespace strata::compile {

/// Whether tiles compute the product: a matter of its dtypes and of K, never of M and N, so that
/// those change no bits.
bool is_amx_gemm(const ir::Op& product, const op::Contraction& contraction,
                 const CpuTarget& target);
Built build_amx_gemm(const Group& group, const op::Contraction& contraction, const Fusion& fusion);

}  // namespace strata::compile
