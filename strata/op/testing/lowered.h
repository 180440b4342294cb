// Runs an operation's lowering by itself, through the loop form's interpreter: the twin that tests compare with the
// reference evaluator.
#pragma once

#include "strata/op/def.h"

namespace strata::op::testing {

/// Results of `op` computed by its Elemental or Update lowering, every operand read from a buffer. A check fails for other
/// lowerings.
Literals lowered(const Op& op, std::span<const Literal> operands);

}  // namespace strata::op::testing
