// From a graph to something that runs, as a list.
#pragma once

#include <memory>

#include "strata/ir/graph.h"

namespace strata::compile {

/// A copy of the block, ready to plan: calls inlined, simplified, dead code gone.
std::unique_ptr<ir::Block> prepare(const ir::Block& block);

/// Replaces operations that are calls of their own region (remat, custom_jvp, ...) by that region, everywhere.
void inline_regions(ir::Block& block);

}  // namespace strata::compile
