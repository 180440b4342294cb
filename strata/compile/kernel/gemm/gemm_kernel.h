// Kernels of dot_general: register tiles over packed panels, generated for the shapes at hand.
//
// Every output element is one chain of fused multiply-adds over k = 0 .. K-1, whatever the tiles,
// blocks and threads. Operands narrower than the accumulator are widened where
// they are packed; where the processor is faster with pairs of bf16, those go through `dot2`
// (docs/exceptions.md). So do integers of at most 16 bits, whose sums are the same in any order,
// and bytes through `dot4`, by fours.
#pragma once

#include "strata/compile/kernel/kernel_builder.h"
#include "strata/compile/llvm/target.h"

namespace strata::compile {

Built build_gemm(const Group& group, const Fusion& fusion, const CpuTarget& target);

}  // namespace strata::compile
