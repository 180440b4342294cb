#include "strata/api/transform/jacobian.h"

#include "strata/api/numpy/shape/creation.h"
#include "strata/api/trace/compose.h"

namespace strata::internal {

Array basis(const Array& x) {
  Ints shape = sizes(x);
  shape.insert(shape.begin(), x.size());
  return eye(x.size(), x.size(), 0, x.dtype()).reshape(shape);
}

Array arrange_columns(const Array& columns, const Array& x) {
  Ints shape = sizes(columns);
  shape.pop_back();
  for (std::int64_t s : sizes(x)) shape.push_back(s);
  return columns.reshape(shape);
}

Array arrange_rows(const Array& rows, const Array& y) {
  Ints shape = sizes(rows);
  shape.erase(shape.begin());
  const Ints front = sizes(y);
  shape.insert(shape.begin(), front.begin(), front.end());
  return rows.reshape(shape);
}

Array zeros_of(const Array& x) { return zeros_like(x); }

}  // namespace strata::internal
