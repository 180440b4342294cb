// Leaves by patterns of their paths.
//
//   params.filter(train::by_patterns({"*/attention/*"}));
#pragma once

#include <string>
#include <vector>

#include "strata/api/tree/tree.h"

namespace strata::train {

/// Leaves whose path matches one of the shell's patterns, written with slashes (layers/query) or as
/// a typed tree's (layers.query).
tree::Filter by_patterns(std::vector<std::string> patterns);

}  // namespace strata::train
