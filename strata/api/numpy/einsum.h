// What einsum and einsum_path share. Private to this room.
#pragma once

#include <string>
#include <vector>

#include "strata/api/array.h"

namespace strata::numpy::detail {

/// The letters of the operands and of the result; those of an ellipsis are control characters.
struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};
/// Throws Error in the name of einsum where subscripts and operands do not go together.
Equation parse_equation(const std::string& subscripts, const std::vector<Array>& operands);

}  // namespace strata::numpy::detail
