// Products whose one side is windows of an array, which is what a convolution is: the part of the array that a block of results
// sees is laid out once, widened and with its padding, and the register tiles read the windows from there.
//
// The bits are those of the product of the windows: each result is one chain of fused multiply-adds over k in order. Narrow operands are
// widened, also where pairs of bf16 would be faster.
#pragma once

#include "strata/compile/kernel_build.h"
#include "strata/compile/llvm/target.h"
#include "strata/compile/product_side.h"
#include "strata/op/windows.h"

namespace strata::compile {

/// Whether `product` (a dot_general of some elements) has such a side.
bool takes_windows(const ir::Op& product, const Fusion& fusion);

/// Whether the columns of the other side would leave most lanes empty, and rows of the windows fill them.
bool few_columns_of_long_rows(const ProductSide& windows, const op::WindowDims& dims, std::int64_t columns);

Built build_window_product(const Group& group, const Fusion& fusion, const CpuTarget& target);

}  // namespace strata::compile
