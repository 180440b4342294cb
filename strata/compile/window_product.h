// Products whose one side is windows of an array, which is what a convolution is: the part of the
// array that a block of results sees is laid out once, widened and with its padding, and the
// register tiles read the windows from there. How it is cut: window_plan.h.
//
// The bits are those of the product of the windows: each result is one chain of fused multiply-adds
// over k in order. Narrow operands are widened, but bf16 that the processor multiplies by pairs
// (product_terms.h).
#pragma once

#include "strata/compile/kernel_build.h"
#include "strata/compile/llvm/target.h"

namespace strata::compile {

/// Whether `product` (a dot_general of some elements) has such a side.
bool takes_windows(const ir::Op& product, const Fusion& fusion);

Built build_window_product(const Group& group, const Fusion& fusion, const CpuTarget& target);

}  // namespace strata::compile
