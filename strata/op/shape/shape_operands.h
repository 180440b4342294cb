// Custom calls of open shapes: JAX writes operands behind all others that hold the shapes of the
// results, and names them in `indices_of_shape_operands`.
//
//   %0 = stablehlo.custom_call @f(%x, %sizes) {indices_of_shape_operands = dense<1> :
//   tensor<1xi64>} : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
//
// They are for refinement (op/shape/refine.h) alone: the target never sees them.
#pragma once

#include "strata/op/rules.h"

namespace strata::op {

/// The operands that hold shapes, one for each result; empty where the call names none. Throws
/// strata::Error where the attribute names others than the last ones, one for each result.
std::vector<int> shape_operands(const Op& call);

/// The call without them, appended to `b`, on `operands` (those of `call` in the new graph, the
/// known ones as constants): its results have the shapes that they hold. Throws strata::Error where
/// they are not known (unsupported), or are no shapes of the results.
Op& without_shape_operands(Builder& b, const Op& call, std::span<Value* const> operands);

}  // namespace strata::op
