// Runs an operation's lowering by itself, through the loop form's interpreter: the twin that tests
// compare with the reference evaluator, and what computes the shapes of programs before they are
// compiled (refine.h).
#pragma once

#include "strata/op/def.h"

namespace strata::op {

/// Whether the operation has a lowering that `lowered` runs: Elemental, Update or Whole.
bool runs_alone(const Op& op);
/// Results of `op` computed by such a lowering, every operand read from a buffer. A check fails for
/// other lowerings.
Literals lowered(const Op& op, std::span<const Literal> operands);

}  // namespace strata::op
