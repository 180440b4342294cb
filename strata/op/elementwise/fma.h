#pragma once

#include "strata/op/def.h"

namespace strata::op {

/// x * y + z, rounded once.
Value* fma(Builder& b, Value* x, Value* y, Value* z);

}  // namespace strata::op
