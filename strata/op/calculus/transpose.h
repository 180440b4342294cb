// Transposition of linear blocks: from cotangents of results to cotangents of the linear arguments.
//
//   Values dx = transpose(b, *l.linear, {nullptr}, {true}, {dz});
//
// Operations that do not depend on a linear argument are copied first; the others are visited last
// to first, and each hands cotangents to its linear operands. Where a value is used more than once
// its cotangents are added in the order in which they arise, so results do not depend on luck.
#pragma once

#include "strata/op/def.h"

namespace strata::op {

/// `operands` are values for the arguments, null where `linear`; a null cotangent is zero. One
/// cotangent per argument, null = zero or not linear. `outer` maps values that `f` uses from
/// outside (residuals); those it does not know stand for themselves. Throws strata::Error where an
/// operation on the way has no transpose.
Values transpose(Builder& b, const Block& f, std::span<Value* const> operands,
                 const std::vector<bool>& linear, std::span<Value* const> cotangents,
                 ir::ValueMap outer = {});
/// All arguments linear.
Values transpose(Builder& b, const Block& f, std::span<Value* const> cotangents,
                 ir::ValueMap outer = {});

/// Which results depend on the arguments with `linear`.
std::vector<bool> dependent_results(const Block& f, const std::vector<bool>& linear);

}  // namespace strata::op
