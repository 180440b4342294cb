// The reference evaluator: operation by operation, each by its own `evaluate` rule.
//
//   Literals y = op::evaluate(f.body, std::array{x});
//
// Slow, obvious, and bit for bit what compiled code gives (docs: decisions 2). Calls of functions
// must have been inlined; shapes must be static.
#pragma once

#include "strata/op/def.h"

namespace strata::op {

struct World;

/// The results of a block whose arguments are `arguments`. Throws strata::Error when their number
/// or types differ from the block's.
Literals evaluate(const Block& block, std::span<const Literal> arguments);
/// The same as one process of a grid, or in a world of the caller's (op/collective/world.h).
Literals evaluate(const Block& block, std::span<const Literal> arguments, Process& process);
Literals evaluate(const Block& block, std::span<const Literal> arguments, World& world);

}  // namespace strata::op
