// Products whose one side is windows of an array, which is what a convolution is: the part of the
// array that a block of results sees is laid out once, widened and with its padding, and the
// register tiles read the windows from there. How it is cut: conv_tiling.h.
//
// The bits are those of the product of the windows: each result is one chain of fused multiply-adds
// over k in order. Narrow operands are widened, but bf16 that the processor multiplies by pairs
// (gemm_terms.h).
#pragma once

#include "strata/compile/kernel/kernel_builder.h"
#include "strata/compile/llvm/target.h"

namespace strata::compile {

/// Whether `product` (a dot_general of some elements) has such a side.
bool is_conv(const ir::Op& product, const Fusion& fusion);

Built build_conv(const Group& group, const Fusion& fusion, const CpuTarget& target);

}  // namespace strata::compile
