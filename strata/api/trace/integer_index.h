// Integers that stand for places along an axis. Private to this room.
#pragma once

#include "strata/api/array.h"

namespace strata::internal {

/// Integers as signed ones that hold them and `size`: i32, or i64 where that is too narrow (of ui64
/// the greatest i64 stands for all above it).
Array as_index(const Array& integers, std::int64_t size);
/// The same, negative ones counted from the end of an axis of that size.
Array index_from_end(const Array& integers, std::int64_t size);

}  // namespace strata::internal
