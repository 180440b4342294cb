// From a graph to something that runs, as a list.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strata/ir/graph.h"

namespace strata::compile {

/// A copy of the block after the passes of the pipeline (pass/pass.h), ready to plan. `remarks`
/// gets lines for `--explain`.
std::unique_ptr<ir::Block> prepare(const ir::Block& block,
                                   std::vector<std::string>* remarks = nullptr);

}  // namespace strata::compile
