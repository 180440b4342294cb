#pragma once

#include "strata/op/build.h"
#include "strata/op/def.h"

namespace strata::op {

/// The type in which a dot_general adds up its products.
DType product_accumulator(const Op& dot_general);

/// The product of `lhs` and `rhs` with the dimensions and the result of `op`: the definition, one chain for each element, which begins at
/// the element of `sums`, or at zero where there are none.
Literal add_products(const Op& op, const Literal& lhs, const Literal& rhs, const Literal* sums);

/// `sums` and a product: each element's chain goes on from its sum, whose dtype is the accumulator's.
Value* dot_add(Builder& b, Value* lhs, Value* rhs, Value* sums, const DotDims& dims);

}  // namespace strata::op
