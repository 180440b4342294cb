#include "strata/api/numpy/index/indexing.h"

#include "strata/api/index.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/trace/compose.h"

namespace strata::numpy {

using internal::describe;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::sizes;

Array take(const Operand& operand, const Operand& indices, std::optional<std::int64_t> axis,
           const AtOptions& options) {
  Site site(operand);
  const Array x = axis ? operand.array : ravel(operand);
  const int dim = internal::axis_of("take", axis.value_or(0), x.ndim());
  const std::int64_t size = x.shape(dim);
  const std::string& mode = options.mode;
  if (!mode.empty() && mode != "fill" && mode != "clip" && mode != "wrap")
    fail("take", "mode is \"fill\", \"clip\" or \"wrap\", got \"{}\"", mode);
  if (size == 0 && indices->size() != 0)
    fail("take", "{} indices are given for an empty axis of {}", indices->size(),
         describe(x.type()));
  if (indices->size() == 0) {
    Ints shape = sizes(x);
    const Ints places = sizes(indices);
    shape.erase(shape.begin() + dim);
    shape.insert(shape.begin() + dim, places.begin(), places.end());
    return zeros_like(x, {}, shape);
  }
  std::vector<Index> index(static_cast<std::size_t>(dim), Index(Slice{}));
  // Clipped indices do not count from the end.
  if (mode == "wrap")
    index.emplace_back(remainder(indices, size));
  else
    index.emplace_back(mode == "clip" && !is_unsigned(indices->dtype()) ? maximum(indices, 0)
                                                                        : indices.array);
  AtOptions how = options;
  how.mode = mode == "wrap" ? "promise_in_bounds" : mode == "clip" ? "clip" : "fill";
  return x.at(Indices(index)).get(how);
}

}  // namespace strata::numpy
