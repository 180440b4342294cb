#include "strata/api/numpy/types.h"

#include "strata/api/compose.h"

namespace strata::numpy {

DType promote_types(DType x, DType y) { return promote({x}, {y}, x64_enabled()).dtype; }
DType result_type(const std::vector<Array>& arrays) { return internal::promoted("result_type", arrays).dtype; }

std::vector<std::int64_t> broadcast_shapes(const std::vector<Sizes>& shapes, Where where) {
  internal::Site site(where);
  std::vector<Array> arrays;
  for (const Sizes& s : shapes) arrays.push_back(zeros(s, bool_));
  return internal::broadcast_shapes("broadcast_shapes", arrays).sizes();
}

}  // namespace strata::numpy
