// A kernel for one operation by itself: what a law test or an eager call runs, and the plainest
// example of a lowering.
#pragma once

#include <memory>

#include "strata/op/def.h"

namespace strata::op {

/// Whether the operation has an element-by-element lowering.
bool is_elemental(const Op& op);

/// The kernel of an operation that `is_elemental`. Parameters: operands in order (in), then results
/// in order (out). Each result is a nest of loops, the last dimension in vectors. Static shapes
/// only.
std::unique_ptr<loop::Kernel> lower_alone(const Op& op);

}  // namespace strata::op
