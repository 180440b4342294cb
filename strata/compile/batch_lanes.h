// Products whose batch lies along memory in both operands (sum over i of x[i, j] * y[i, j], for
// each j): lanes are elements of the batch, each with the chains of its own rows and columns, over
// the terms in order. Tiles along rows and columns would read every operand here and there.
#pragma once

#include "strata/compile/kernel_build.h"
#include "strata/compile/llvm/target.h"
#include "strata/op/def.h"

namespace strata::compile {

/// Whether `product` has such a batch, long enough to fill lanes, and so few other terms that a
/// strip of lanes stays in the second cache.
bool takes_batch_lanes(const ir::Op& product);

Built build_batch_lanes(const Group& group, const op::Contraction& c, const Fusion& fusion,
                        const CpuTarget& target);

}  // namespace strata::compile
