// Element types as PJRT numbers them.
#pragma once

#include <optional>

#include "strata/runtime/plugin/abi.h"
#include "strata/type/type.h"

namespace strata::runtime::plugin {

/// None for a number that Strata has no type for.
std::optional<DType> dtype_of(PJRT_Buffer_Type type);
PJRT_Buffer_Type buffer_type(DType dtype);

}  // namespace strata::runtime::plugin
