#include "strata/api/trace/integer_index.h"

#include <limits>

#include "strata/api/numpy/elementwise.h"
#include "strata/api/trace/compose.h"

namespace strata::internal {

Array as_index(const Array& integers, std::int64_t size) {
  const DType dtype = integers.dtype();
  const bool is_wide = bit_width(dtype) + (is_unsigned(dtype) ? 1 : 0) > 32 ||
                       size > std::numeric_limits<std::int32_t>::max();
  const bool is_widest = dtype == DType::ui64;
  const Array held =
      is_widest ? numpy::minimum(integers, cast(greatest(DType::i64), {dtype, false})) : integers;
  return cast(held, {is_wide ? DType::i64 : DType::i32, false});
}
Array index_from_end(const Array& integers, std::int64_t size) {
  const Array i = as_index(integers, size);
  return is_unsigned(integers.dtype()) ? i : numpy::where(i < 0, i + size, i);
}

}  // namespace strata::internal
