#pragma once

#include "strata/op/def.h"

namespace strata::op {

/// The type in which a dot_general adds up its products.
DType product_accumulator(const Op& dot_general);

}  // namespace strata::op
