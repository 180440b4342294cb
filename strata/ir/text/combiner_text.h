// The combiner of a reduction or scatter: a word here, a region in StableHLO.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "strata/ir/graph.h"

namespace strata::ir {

/// "add" "mul" "min" "max" "and" "or" "xor" for a region that applies that operation to its two
/// scalar arguments of `dtype` in order, "assign" for one that returns the second; "region" for
/// every other.
std::string recognise_combiner(const Block& region, DType dtype);
/// The region that a word stands for.
std::unique_ptr<Block> combiner_region(std::string_view combiner, DType dtype);
/// "stablehlo.add" for "add"; empty for "assign" and "region".
std::string_view combiner_operation(std::string_view combiner);
/// The inverse.
std::string_view combiner_of_operation(std::string_view operation);

}  // namespace strata::ir
