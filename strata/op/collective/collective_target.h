// What custom calls between devices do when they run (collective_calls.h makes them).
#pragma once

#include "strata/op/foreign/foreign.h"
#include "strata/op/reduce/combiner.h"

namespace strata::op::collective {

/// The target of all of them; `operation` says which one it is.
inline constexpr const char* kCollectiveTarget = "strata.collective";

/// Whether the handler combines elements of the type itself: what the processor does with one
/// instruction, the same bits as compiled code.
bool adds_natively(Combiner combiner, DType dtype);

}  // namespace strata::op::collective

namespace strata::op {
/// Of target.h.
Result<foreign::Bound> bind_collective(const foreign::Call& call);
}  // namespace strata::op
