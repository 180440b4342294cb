// What einsum and einsum_path share. Private to this room.
#pragma once

#include <string>
#include <vector>

#include "strata/api/numpy/einsum/einsum_path.h"

namespace strata::numpy::detail {

/// The letters of the operands and of the result; those of an ellipsis are control characters.
struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};
/// Throws Error in the name of einsum where subscripts and operands do not go together.
Equation parse_equation(const std::string& subscripts, const std::vector<Array>& operands);

/// EinsumPath::path.
std::vector<std::vector<std::int64_t>> find_path(const Equation& equation,
                                                 const std::vector<Array>& operands,
                                                 const EinsumOptimize& optimize);

}  // namespace strata::numpy::detail
