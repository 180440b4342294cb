// What sorting is built with: comparators, and elements taken in an order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strata/op/def.h"

namespace strata::op {

/// The comparator of scalars of these dtypes that looks at the first alone; floats are in total
/// order.
std::unique_ptr<Block> comparator(const std::vector<DType>& dtypes, const std::string& direction);
/// x[..., index[..., i, ...], ...] along a dimension; x and index have equal sizes in the others.
Value* take_along(Builder& b, Value* x, Value* index, int dimension);

}  // namespace strata::op
