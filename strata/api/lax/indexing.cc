#include "strata/api/lax/indexing.h"

#include <algorithm>

#include "strata/api/lax/gather.h"
#include "strata/api/lax/shapes.h"
#include "strata/api/lax/slicing.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/trace/compose.h"

namespace strata::lax {
namespace {

using internal::axis_of;
using internal::describe;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::sizes;

/// Dimensions as non-negative numbers in the order given; none twice.
Ints distinct(const char* name, const Sizes& dimensions, int rank) {
  Ints out;
  for (std::int64_t d : dimensions) {
    out.push_back(axis_of(name, d, rank));
    if (std::count(out.begin(), out.end(), out.back()) > 1)
      fail(name, "dimension {} is given twice", d);
  }
  return out;
}

}  // namespace

Array index_in_dim(const Operand& x, std::int64_t index, std::int64_t axis, bool keepdims) {
  Site site(x);
  const int dim = axis_of("index_in_dim", axis, x->ndim());
  const std::int64_t size = x->shape()[dim], at = index < 0 ? index + size : index;
  if (at < 0 || at >= size)
    fail("index_in_dim", "index {} is out of range for dimension {} of {}", index, dim,
         describe(x->type()));
  const Array one = slice_in_dim(x, at, at + 1, 1, dim);
  return keepdims ? one : lax::squeeze(one, {dim});
}
Array index_take(const Operand& x, const std::vector<Array>& indices, const Sizes& axes) {
  Site site(x);
  if (indices.size() != axes.size() || indices.empty())
    fail("index_take", "{} vectors of indices are given for {} axes", indices.size(), axes.size());
  const Ints dims = distinct("index_take", axes, x->ndim());
  Ints slice_sizes = sizes(x), offsets;
  std::vector<Array> columns;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (indices[i].ndim() != 1 || !is_integer(indices[i].dtype()))
      fail("index_take", "indices are vectors of integers, got {}", describe(indices[i].type()));
    columns.push_back(
        lax::expand_dims(numpy::mod(indices[i], x->shape()[static_cast<int>(dims[i])]), {1}));
    slice_sizes[static_cast<std::size_t>(dims[i])] = 1;
  }
  for (int d = 1; d <= x->ndim() - static_cast<int>(dims.size()); ++d) offsets.push_back(d);
  return gather(x, concatenate(columns, 1),
                {.offset_dims = offsets,
                 .collapsed_slice_dims = dims,
                 .start_index_map = dims,
                 .operand_batching_dims = {},
                 .start_indices_batching_dims = {}},
                slice_sizes);
}

Array dynamic_index_in_dim(const Operand& x, const Operand& index, std::int64_t axis,
                           bool keepdims) {
  Site site(x);
  const Array one = dynamic_slice_in_dim(x, index, 1, axis);
  return keepdims ? one : lax::squeeze(one, {axis});
}
Array dynamic_update_index_in_dim(const Operand& x, const Operand& update, const Operand& index,
                                  std::int64_t axis) {
  Site site(x);
  const int dim = axis_of("dynamic_update_index_in_dim", axis, x->ndim());
  const Array one = update->ndim() == x->ndim() ? update.array : lax::expand_dims(update, {dim});
  if (one.ndim() != x->ndim() || one.shape()[dim] != 1)
    fail("dynamic_update_index_in_dim",
         "an update of {} along dimension {} has one element there, got {}", describe(x->type()),
         dim, describe(update->type()));
  return dynamic_update_slice_in_dim(x, one, index, dim);
}

}  // namespace strata::lax
