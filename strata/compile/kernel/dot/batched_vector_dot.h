// Products of one row by one column, many of them: sums of x[b, k] * y[b, k] over k. Lanes are
// elements of the batch, each its own chain over k.
#pragma once

#include "strata/compile/kernel/kernel_builder.h"
#include "strata/compile/llvm/target.h"
#include "strata/op/def.h"

namespace strata::compile {

/// Whether `product` is made of enough of them to fill lanes.
bool is_batched_vector_dot(const ir::Op& product, const op::Contraction& c);

/// Operands that run along k are read by squares of 8 elements of the batch and 8 steps, which are
/// turned in registers. (The chain of one element is as slow as 4 cycles a step.)
Built build_batched_vector_dot(const Group& group, const op::Contraction& c, const Fusion& fusion,
                               const CpuTarget& target);

}  // namespace strata::compile
