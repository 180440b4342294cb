// Arrays of one number.
#pragma once

#include <optional>

#include "strata/ir/graph.h"

namespace strata::pass {

/// The one value of all elements, where that is a constant, broadcast or not; nothing for complex
/// numbers and for types without storage.
std::optional<Literal> splat(const ir::Value* v);

/// Whether every element is that number; of floats with its sign, so that 0 is not -0. Booleans are
/// none.
bool is_splat(const ir::Value* v, double wanted);
/// Whether every element is that boolean.
bool is_bool_splat(const ir::Value* v, bool wanted);

}  // namespace strata::pass
