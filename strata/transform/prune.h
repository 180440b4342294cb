// Dead code, also inside operations with regions.
#pragma once

#include "strata/ir/graph.h"

namespace strata::transform {

/// Drops operations without effects whose results nobody uses, and of loops and branches the
/// results, carries and code that nobody uses: after differentiation there are many.
void prune(ir::Block& block);

}  // namespace strata::transform
