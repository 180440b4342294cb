// Large results that leave the caches before anything reads them (Fusion::streaming_results).
#pragma once

#include <unordered_set>

#include "strata/compile/fuse/fusion.h"

namespace strata::compile {

/// Large results that no kernel of the block reads, where there are more of them than caches hold:
/// a step's new parameters, what an iteration of a loop over layers keeps for the way back.
std::unordered_set<const ir::Value*> find_streaming_results(const ir::Block& block,
                                                            const Fusion& fusion);

}  // namespace strata::compile
