#include "strata/pjrt/types.h"

#include "strata/pjrt/error.h"
#include "strata/runtime/plugin/types.h"

namespace strata::pjrt {

DType dtype_of(PJRT_Buffer_Type type) {
  if (const auto dtype = runtime::plugin::dtype_of(type)) return *dtype;
  fail(PJRT_Error_Code_UNIMPLEMENTED, "buffers of PJRT's element type {} are not supported",
       static_cast<std::uint32_t>(type));
}

PJRT_Buffer_Type buffer_type(const Type& type) {
  return type.is_token() ? PJRT_Buffer_Type_TOKEN : runtime::plugin::buffer_type(type.dtype());
}

std::size_t bytes_of(const Type& type) { return type.is_token() ? 0 : type.bytes(); }

Type array_type(PJRT_Buffer_Type type, std::span<const std::int64_t> dims) {
  for (std::int64_t d : dims)
    if (d < 0) fail(PJRT_Error_Code_INVALID_ARGUMENT, "a dimension of size {}", d);
  return Type(dtype_of(type), Shape::of({dims.begin(), dims.end()}));
}

}  // namespace strata::pjrt
