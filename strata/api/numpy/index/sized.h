// Results whose length depends on values. Private to this room.
#pragma once

#include <cstdint>
#include <optional>

#include "strata/api/array.h"

namespace strata::internal {

/// The dtype of positions and counts: i32, under x64 i64.
inline DType index_dtype() { return canonical(DType::i64, x64_enabled()); }

/// Throws Error in the name of `operation` for an array whose elements are not known while a
/// program is recorded; `instead` says what to do.
void require_known(const char* operation, const Array& x, const char* instead);

/// How many elements of x are not zero, or `size` where it is given (at least 0).
std::int64_t length_of(const char* operation, const Array& x,
                       const std::optional<std::int64_t>& size);
/// The places of the first so many true elements of a vector; zeros where there are fewer.
Array places_of(const Array& mask, std::int64_t size);

}  // namespace strata::internal
