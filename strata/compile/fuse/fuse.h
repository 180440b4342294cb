// Which operations become one kernel.
//
// Two decisions. **Inlining**: an elementwise operation that is cheap, or has one use that does not
// repeat its elements, is computed where it is read and never stored. **Grouping**: what remains
// ("roots") is joined into groups that share one iteration space of `rows` x `total / rows`
// elements: maps over all elements, reductions of whole rows, values of one element per row, in any
// order of dependence, so that softmax, norms and an optimizer's update are one kernel each.
// Neither changes a bit of any result: the order of reductions is the shape's
// (op/reduce/reduce_order.h). What is fused or not is therefore free, and where kernels would take
// long to compile, small operations stay apart (fusion_limits.h).
#pragma once

#include "strata/compile/fuse/fusion.h"

namespace strata::compile {

Fusion fuse(const ir::Block& block, FusionMode mode = FusionMode::full);

}  // namespace strata::compile
