#include "strata/api/lax/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "strata/api/lax/operations.h"
#include "strata/api/lax/slicing.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/numpy/types.h"
#include "strata/api/trace/compose.h"

namespace strata::lax {
namespace {

using internal::axis_of;
using internal::Builder;
using internal::describe;
using internal::emit_one;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::sizes;
using internal::Values;

void require_sizes(const char* name, const Sizes& shape) {
  for (std::int64_t s : shape)
    if (s < 0) fail(name, "a size is at least 0, got {}", s);
}

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

Array reshaped(const Array& x, const Ints& shape) {
  return emit_one({x}, x.weak(), [&](Builder& b, const Values& v) {
    return op::reshape(b, v[0], Shape::of(shape));
  });
}

/// Operands of one dtype and, but for one dimension, one shape.
void require_alike(const char* name, const std::vector<Array>& operands, int but) {
  if (operands.empty()) fail(name, "needs at least one array");
  const Array& first = operands[0];
  for (const Array& x : operands) {
    bool alike = x.ndim() == first.ndim() && x.dtype() == first.dtype();
    for (int d = 0; alike && d < x.ndim(); ++d)
      alike = d == but || x.shape()[d] == first.shape()[d];
    if (!alike)
      fail(name, "{} and {} do not go together", describe(first.type()), describe(x.type()));
  }
}

bool all_weak(const std::vector<Array>& arrays) {
  return std::all_of(arrays.begin(), arrays.end(), [](const Array& a) { return a.weak(); });
}

}  // namespace

Array reshape(const Operand& x, const Sizes& new_sizes, const Sizes& dimensions) {
  Site site(x);
  require_sizes("reshape", new_sizes);
  const Shape shape = Shape::of(new_sizes);
  if (shape.count() != x->size())
    fail("reshape", "{} does not have the {} elements of {}", describe(x->type()), shape.count(),
         describe(shape));
  return reshaped(dimensions.size() == 0 ? x.array : lax::transpose(x, dimensions),
                  new_sizes.get());
}

Array transpose(const Operand& x, const Sizes& permutation) {
  Site site(x);
  Ints sorted = permutation.get(), all(static_cast<std::size_t>(x->ndim()));
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all)
    fail("transpose", "({}) is no permutation of the dimensions of {}",
         fmt::join(permutation, ", "), describe(x->type()));
  return emit_one({x}, x->weak(), [&](Builder& b, const Values& v) {
    return op::transpose(b, v[0], permutation.get());
  });
}

Array expand_dims(const Operand& x, const Sizes& dimensions) {
  Site site(x);
  Ints places =
           distinct("expand_dims", dimensions, x->ndim() + static_cast<int>(dimensions.size())),
       shape = sizes(x);
  std::sort(places.begin(), places.end());
  for (std::int64_t p : places) shape.insert(shape.begin() + p, 1);
  return reshaped(x, shape);
}

Array squeeze(const Operand& x, const Sizes& dimensions) {
  Site site(x);
  Ints places = distinct("squeeze", dimensions, x->ndim()), shape = sizes(x);
  std::sort(places.rbegin(), places.rend());
  for (std::int64_t p : places) {
    if (shape[static_cast<std::size_t>(p)] != 1)
      fail("squeeze", "dimension {} of {} does not have size 1", p, describe(x->type()));
    shape.erase(shape.begin() + p);
  }
  return reshaped(x, shape);
}

Array collapse(const Operand& x, std::int64_t start_dimension,
               std::optional<std::int64_t> stop_dimension) {
  Site site(x);
  const std::int64_t rank = x->ndim();
  auto bound = [&](std::int64_t d) {
    return std::clamp<std::int64_t>(d < 0 ? d + rank : d, 0, rank);
  };
  const std::int64_t low = bound(start_dimension), high = bound(stop_dimension.value_or(rank));
  if (high < low)
    fail("collapse", "dimensions [{}, {}) of {} are no range", low, high, describe(x->type()));
  Ints shape = sizes(x);
  const std::int64_t size = std::accumulate(shape.begin() + low, shape.begin() + high,
                                            std::int64_t{1}, std::multiplies<>());
  shape.erase(shape.begin() + low, shape.begin() + high);
  shape.insert(shape.begin() + low, size);
  return reshaped(x, shape);
}

Array tile(const Operand& x, const Sizes& reps) {
  Site site(x);
  if (static_cast<int>(reps.size()) != x->ndim())
    fail("tile", "{} numbers are given for {}", reps.size(), describe(x->type()));
  require_sizes("tile", reps);
  Ints wide, dims, shape;
  for (int d = 0; d < x->ndim(); ++d) {
    const std::int64_t size = x->shape()[d], times = reps[static_cast<std::size_t>(d)];
    wide.insert(wide.end(), {times, size});
    dims.push_back(2 * d + 1);
    shape.push_back(times * size);
  }
  return reshaped(broadcast_in_dim(x, wide, dims), shape);
}

Array concatenate(const std::vector<Array>& operands, std::int64_t dimension, Where where) {
  Site site(where);
  if (operands.empty()) fail("concatenate", "needs at least one array");
  if (dimension < 0 || dimension >= operands[0].ndim())
    fail("concatenate", "dimension {} is out of range for {}", dimension,
         describe(operands[0].type()));
  require_alike("concatenate", operands, static_cast<int>(dimension));
  if (operands.size() == 1) return operands[0];
  return emit_one(operands, all_weak(operands), [&](Builder& b, const Values& v) {
    return op::concatenate(b, v, static_cast<int>(dimension));
  });
}

Array stack(const std::vector<Array>& operands, std::int64_t axis, Where where) {
  Site site(where);
  require_alike("stack", operands, -1);
  const int place = axis_of("stack", axis, operands[0].ndim() + 1);
  std::vector<Array> rows;
  for (const Array& x : operands) rows.push_back(lax::expand_dims(x, {place}));
  return concatenate(rows, place, where);
}

std::vector<Array> split(const Operand& x, const Sizes& parts, std::int64_t axis) {
  Site site(x);
  const int dim = axis_of("split", axis, x->ndim());
  require_sizes("split", parts);
  if (std::accumulate(parts.begin(), parts.end(), std::int64_t{0}) != x->shape()[dim])
    fail("split", "parts of sizes ({}) do not fill dimension {} of {}", fmt::join(parts, ", "), dim,
         describe(x->type()));
  std::vector<Array> out;
  std::int64_t from = 0;
  for (std::int64_t n : parts) {
    out.push_back(slice_in_dim(x, from, from + n, 1, dim));
    from += n;
  }
  return out;
}

std::vector<Array> unstack(const Operand& x, std::int64_t axis) {
  Site site(x);
  const int dim = axis_of("unstack", axis, x->ndim());
  std::vector<Array> out;
  for (std::int64_t i = 0; i < x->shape()[dim]; ++i)
    out.push_back(lax::squeeze(slice_in_dim(x, i, i + 1, 1, dim), {dim}));
  return out;
}

Array broadcast(const Operand& x, const Sizes& leading) {
  Site site(x);
  require_sizes("broadcast", leading);
  Ints shape = leading.get(), dims(static_cast<std::size_t>(x->ndim()));
  std::iota(dims.begin(), dims.end(), static_cast<std::int64_t>(leading.size()));
  for (std::int64_t s : sizes(x)) shape.push_back(s);
  return broadcast_in_dim(x, shape, dims);
}

Array broadcast_like(const Operand& x, const Operand& like) {
  Site site(x);
  return numpy::broadcast_to(x, like->shape());
}
std::vector<std::int64_t> broadcast_shapes(const std::vector<Sizes>& shapes, Where where) {
  return numpy::broadcast_shapes(shapes, where);
}

Array broadcast_to_rank(const Operand& x, std::int64_t rank) {
  Site site(x);
  if (rank < x->ndim())
    fail("broadcast_to_rank", "{} has more than {} dimensions", describe(x->type()), rank);
  return broadcast(x, Ints(static_cast<std::size_t>(rank - x->ndim()), 1));
}

Array full(const Sizes& shape, const Operand& fill_value, std::optional<DType> dtype) {
  Site site(fill_value);
  if (fill_value->ndim() != 0)
    fail("full", "a scalar is needed, got {}", describe(fill_value->type()));
  const WeakDType type = dtype ? WeakDType{canonical(*dtype, x64_enabled())}
                               : WeakDType{fill_value->dtype(), fill_value->weak()};
  return broadcast(internal::cast(fill_value, type), shape);
}

Array full_like(const Operand& x, const Operand& fill_value, std::optional<DType> dtype,
                const OptionalSizes& shape) {
  Site site(x);
  const WeakDType type =
      dtype ? WeakDType{canonical(*dtype, x64_enabled())} : WeakDType{x->dtype(), x->weak()};
  return lax::full(shape.value_or(x->shape()), internal::cast(fill_value, type));
}

Array empty(const Sizes& shape, DType dtype, Where where) {
  return lax::full(shape, Operand(0, where), dtype);
}

Array shape_as_value(const Sizes& shape, Where where) {
  Site site(where);
  return strata::array(shape.get(), Sizes(static_cast<std::int64_t>(shape.size())), DType::i32);
}

Array select_n(const Operand& which, const std::vector<Array>& cases) {
  Site site(which);
  require_alike("select_n", cases, -1);
  const bool boolean = is_bool(which->dtype());
  if (!boolean && which->dtype() != DType::i32)
    fail("select_n", "`which` is boolean or i32, got {}", describe(which->type()));
  if (boolean && cases.size() > 2)
    fail("select_n", "a boolean chooses between at most two cases, got {}", cases.size());
  if (which->ndim() != 0 && which->shape() != cases[0].shape())
    fail("select_n", "`which` is a scalar or has the shape of the cases {}, got {}",
         describe(cases[0].type()), describe(which->type()));
  if (cases.size() == 1) return cases[0];
  if (boolean) return select(which, cases[1], cases[0]);
  Array out = cases.back();
  for (std::size_t i = cases.size() - 1; i-- > 0;)
    out = select(numpy::less_equal(which, static_cast<std::int64_t>(i)), cases[i], out);
  return out;
}

}  // namespace strata::lax
