// Operations with regions, without what nobody uses.
#pragma once

#include "strata/op/def.h"

namespace strata::op {

/// Whether `narrow` knows the operation: scan, while, case, if, remat.
bool can_narrow(const Op& op);

/// The same operation without results that are not `used`, emitted into `b`; what only they need
/// (operands, carries, code in regions) goes too. Returns its results, null for those left out. A
/// carry stays when one that stays depends on it.
Values narrow(Builder& b, const Op& op, const std::vector<bool>& used);

}  // namespace strata::op
