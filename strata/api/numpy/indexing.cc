// Functions of numpy/indexing.h.
#include "strata/api/numpy/indexing.h"

#include "strata/api/compose.h"
#include "strata/api/index.h"
#include "strata/api/lax.h"

namespace strata::numpy {

using internal::describe;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::sizes;

Array take(const Operand& x, const Operand& indices, std::int64_t axis, const std::string& mode) {
  Site site(x);
  if (mode != "fill" && mode != "clip") fail("take", "mode is \"fill\" or \"clip\", got \"{}\"", mode);
  const int dim = internal::axis_of("take", axis, x->ndim());
  std::vector<Index> index(static_cast<std::size_t>(dim), Index(Slice{}));
  // Clipped indices do not count from the end.
  const bool clipped = mode == "clip" && !is_unsigned(indices->dtype());
  index.emplace_back(clipped ? maximum(indices, 0) : indices.array);
  return x.array.at(Indices(index)).get({.mode = mode});
}

Array take_along_axis(const Operand& x, const Operand& indices, std::int64_t axis) {
  Site site(x);
  if (!is_integer(indices->dtype())) fail("take_along_axis", "indices are integers, got {}", describe(indices->type()));
  if (indices->ndim() != x->ndim())
    fail("take_along_axis", "{} and indices {} have different numbers of axes", describe(x->type()), describe(indices->type()));
  const int dim = internal::axis_of("take_along_axis", axis, x->ndim());
  Ints batch, xs = sizes(x), is = sizes(indices);
  for (int d = 0; d < x->ndim(); ++d) {
    if (d == dim) continue;
    batch.push_back(d);
    std::int64_t &a = xs[static_cast<std::size_t>(d)], &b = is[static_cast<std::size_t>(d)];
    if (a != b && a != 1 && b != 1) fail("take_along_axis", "{} and indices {} do not broadcast", describe(x->type()), describe(indices->type()));
    a = b = a == 1 ? b : a;
  }
  Array i = internal::cast(broadcast_to(indices, is), {DType::i32, false});
  if (!is_unsigned(indices->dtype())) i = where(i < 0, i + xs[static_cast<std::size_t>(dim)], i);
  return lax::gather(broadcast_to(x, xs), expand_dims(i, -1),
                     {.offset_dims = {}, .collapsed_slice_dims = {dim}, .start_index_map = {dim}, .operand_batching_dims = batch, .start_indices_batching_dims = batch},
                     Ints(static_cast<std::size_t>(x->ndim()), 1));
}

}  // namespace strata::numpy
