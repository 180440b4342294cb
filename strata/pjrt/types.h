// Element types as PJRT numbers them.
#pragma once

#include <span>

#include "strata/runtime/plugin/abi.h"
#include "strata/type/type.h"

namespace strata::pjrt {

/// Throws Failure (UNIMPLEMENTED) for one that Strata does not have.
DType dtype_of(PJRT_Buffer_Type type);
/// PJRT_Buffer_Type_TOKEN of a token.
PJRT_Buffer_Type buffer_type(const Type& type);
/// A token has none.
std::size_t bytes_of(const Type& type);
Type array_type(PJRT_Buffer_Type type, std::span<const std::int64_t> dims);

}  // namespace strata::pjrt
