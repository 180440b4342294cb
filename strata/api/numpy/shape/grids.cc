// Functions of numpy/creation.h whose elements follow from their places: grids, powers.
#include "strata/api/lax/operations.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/joining.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/trace/compose.h"

namespace strata::numpy {

using internal::fail;
using internal::Site;

Array indices(const Sizes& dimensions, DType dtype, Where where) {
  Site site(where);
  for (std::int64_t s : dimensions)
    if (s < 0) fail("indices", "a size is at least 0, got {}", s);
  std::vector<Array> out;
  for (std::size_t d = 0; d < dimensions.size(); ++d)
    out.push_back(lax::broadcasted_iota(dtype, dimensions, static_cast<std::int64_t>(d)));
  return out.empty() ? zeros({0}, dtype) : stack(out);
}
std::vector<Array> meshgrid(const std::vector<Array>& vectors, const Grid& options, Where where) {
  Site site(where);
  if (options.indexing != "xy" && options.indexing != "ij")
    fail("meshgrid", "indexing is \"xy\" or \"ij\", got \"{}\"", options.indexing);
  const std::size_t rank = vectors.size();
  auto axis_of_vector = [&](std::size_t i) {
    return options.indexing == "xy" && rank > 1 && i < 2 ? 1 - i : i;
  };
  std::vector<std::int64_t> whole(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    if (vectors[i].ndim() != 1)
      fail("meshgrid", "vectors are needed, got {}", internal::describe(vectors[i].type()));
    whole[axis_of_vector(i)] = vectors[i].size();
  }
  std::vector<Array> out;
  for (std::size_t i = 0; i < rank; ++i) {
    std::vector<std::int64_t> along(rank, 1);
    along[axis_of_vector(i)] = vectors[i].size();
    const Array axis = vectors[i].reshape(along);
    out.push_back(options.sparse ? axis : broadcast_to(axis, whole));
  }
  return out;
}
Array vander(const Operand& x, std::optional<std::int64_t> n, bool increasing) {
  Site site(x);
  if (x->ndim() != 1) fail("vander", "needs a vector, got {}", internal::describe(x->type()));
  const std::int64_t count = n.value_or(x->size());
  if (count < 0) fail("vander", "the number of columns is at least 0, got {}", count);
  std::vector<Array> columns;
  for (std::int64_t k = 0; k < count; ++k)
    columns.push_back(power(x, increasing ? k : count - 1 - k));
  return columns.empty() ? zeros({x->size(), 0}, x->dtype()) : stack(columns, 1);
}

}  // namespace strata::numpy
