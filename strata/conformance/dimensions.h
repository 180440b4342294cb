// Arguments for programs of unknown dimensions that state no values of their own.
#pragma once

#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/ir/graph.h"

namespace strata::conformance {

/// Sizes for one program: its dimension variables (the scalar integers with which its arguments
/// begin) and the size of each
/// '?' among the types of the other arguments, in order.
struct Dimensions {
  std::vector<std::int64_t> variables, sizes;
  std::int64_t integers_below = 3;  // of the other arguments
};

/// The line `NAME variables : sizes` or `NAME variables : sizes : integers_below` of the manifest
/// `dimensions.txt` beside the program; Code::not_found without one.
Result<Dimensions> dimensions_of(const std::string& path);

/// Arguments of those sizes: equal programs get equal values. Floats in [-2, 2), integers in [0,
/// integers_below).
Result<std::vector<Literal>> made_arguments(const ir::Function& f, const Dimensions& dimensions);

}  // namespace strata::conformance
