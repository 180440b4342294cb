// Narrow products (product_result.h): a lane for each element of the result, as it lies in memory
// behind the product's moves.
#pragma once

#include "strata/compile/kernel_build.h"

namespace strata::compile {

Built build_narrow_product(const Group& group, const Fusion& fusion);

}  // namespace strata::compile
