// The dtype in which sums and quotients are formed.
#pragma once

#include "strata/type/type.h"

namespace strata::nn {

/// f32, or f64 where that is the dtype.
inline DType wide(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

}  // namespace strata::nn
