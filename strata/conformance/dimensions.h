// Arguments for programs of unknown dimensions that state no values of their own.
#pragma once

#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/ir/graph.h"

namespace strata::conformance {

/// Sizes for one program: its dimension variables (the scalar integers with which its arguments begin) and the size of each
/// '?' among the types of the other arguments, in order.
struct Dimensions {
  std::vector<std::int64_t> variables, sizes;
};

/// The line `NAME variables : sizes` of the manifest `dimensions.txt` beside the program; Code::not_found without one.
Result<Dimensions> dimensions_of(const std::string& path);

/// Arguments of those sizes: equal programs get equal values. Floats in [-2, 2), integers in [0, 3).
Result<std::vector<Literal>> made_arguments(const ir::Function& f, const Dimensions& dimensions);

}  // namespace strata::conformance
