// What a rule looks for in front of an operation.
#pragma once

#include <string_view>

#include "strata/ir/graph.h"

namespace strata::ir {

/// The operation of that name whose result `v` is; null where another one, or none, made it.
inline const Op* made_by(const Value* v, std::string_view name) {
  return v->op() && v->op()->name() == name ? v->op() : nullptr;
}

}  // namespace strata::ir
