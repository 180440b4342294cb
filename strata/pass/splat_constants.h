// Large constants of one value as that value, broadcast.
//
// JAX writes `dense<1.0> : tensor<4194304xf32>`. As a literal it is 16 MB, and whoever asks whether
// it is one value reads them.
#pragma once

#include "strata/ir/graph.h"

namespace strata::pass {

/// Each constant of many equal elements, in nested regions too, becomes a broadcast of a scalar. No
/// bit changes.
void shrink_splat_constants(ir::Block& block);

}  // namespace strata::pass
