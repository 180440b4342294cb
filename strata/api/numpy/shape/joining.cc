#include "strata/api/numpy/shape/joining.h"

#include <algorithm>

#include "strata/api/lax/slicing.h"
#include "strata/api/numpy/index/indexing.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/trace/compose.h"

namespace strata::numpy {
namespace {

using internal::axis_of;
using internal::describe;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::sizes;

/// Converted to one dtype, without broadcasting.
std::vector<Array> same_dtype(const char* name, std::vector<Array> arrays) {
  if (arrays.empty()) fail(name, "needs at least one array");
  const WeakDType type = internal::promoted(name, arrays);
  for (Array& a : arrays) a = internal::cast(a, type);
  return arrays;
}

/// Where `sections` parts end that are as equal as can be, the first ones longer.
Ints ends_of(std::int64_t size, std::int64_t sections) {
  Ints out;
  std::int64_t end = 0;
  for (std::int64_t i = 0; i + 1 < sections; ++i)
    out.push_back(end += size / sections + (i < size % sections ? 1 : 0));
  return out;
}

template <class F>
std::vector<Array> each(const std::vector<Array>& arrays, F f) {
  std::vector<Array> out;
  for (const Array& a : arrays) out.push_back(f(a));
  return out;
}

/// The axis of hsplit; vsplit and dsplit need so many dimensions.
std::int64_t split_axis(const char* name, const Array& x, int axis) {
  if (axis == 1 && x.ndim() == 1) return 0;
  if (x.ndim() <= axis) fail(name, "needs {} dimensions, got {}", axis + 1, describe(x.type()));
  return axis;
}

}  // namespace

Array concatenate(const std::vector<Array>& arrays, std::optional<std::int64_t> axis, Where where) {
  Site site(where);
  if (!axis) return concatenate(each(arrays, [](const Array& a) { return ravel(a); }));
  const std::vector<Array> parts = same_dtype("concatenate", arrays);
  const int rank = parts[0].ndim();
  if (rank == 0) fail("concatenate", "scalars cannot be concatenated; use stack");
  const int dim = axis_of("concatenate", *axis, rank);
  for (const Array& p : parts)
    for (int i = 0; i < std::max(rank, p.ndim()); ++i)
      if (p.ndim() != rank || (i != dim && p.shape()[i] != parts[0].shape()[i]))
        fail("concatenate", "{} and {} differ outside of axis {}", describe(parts[0].type()),
             describe(p.type()), dim);
  if (parts.size() == 1) return parts[0];
  return internal::emit_one(
      parts, parts[0].weak(),
      [&](internal::Builder& b, const internal::Values& v) { return op::concatenate(b, v, dim); });
}

Array stack(const std::vector<Array>& arrays, std::int64_t axis, Where where) {
  Site site(where);
  std::vector<Array> parts = same_dtype("stack", arrays);
  for (Array& p : parts) {
    if (p.shape() != arrays[0].shape())
      fail("stack", "shapes {} and {} differ", describe(arrays[0].type()), describe(p.type()));
    p = expand_dims(p, axis);
  }
  return concatenate(parts, axis);
}

Array vstack(const std::vector<Array>& arrays, Where where) {
  Site site(where);
  return concatenate(each(arrays, [](const Array& a) { return atleast_2d(a); }), 0);
}
Array hstack(const std::vector<Array>& arrays, Where where) {
  Site site(where);
  const std::vector<Array> parts = each(arrays, [](const Array& a) { return atleast_1d(a); });
  return concatenate(parts, !parts.empty() && parts[0].ndim() == 1 ? 0 : 1);
}
Array dstack(const std::vector<Array>& arrays, Where where) {
  Site site(where);
  return concatenate(each(arrays, [](const Array& a) { return atleast_3d(a); }), 2);
}
Array column_stack(const std::vector<Array>& arrays, Where where) {
  Site site(where);
  return concatenate(
      each(arrays, [](const Array& a) { return a.ndim() < 2 ? a.reshape({a.size(), 1}) : a; }), 1);
}
Array append(const Operand& x, const Operand& values, std::optional<std::int64_t> axis) {
  Site site(x);
  return concatenate({x.array, values.array}, axis);
}

std::vector<Array> split(const Operand& x, std::int64_t sections, std::int64_t axis) {
  Site site(x);
  const int dim = axis_of("split", axis, x->ndim());
  const std::int64_t size = x->shape()[dim];
  if (sections < 1 || size % sections != 0)
    fail("split", "axis {} of {} does not divide into {} equal parts", dim, describe(x->type()),
         sections);
  return split(x, ends_of(size, sections), axis);
}
std::vector<Array> split(const Operand& x, const std::vector<std::int64_t>& indices,
                         std::int64_t axis) {
  Site site(x);
  const int dim = axis_of("split", axis, x->ndim());
  const std::int64_t size = x->shape()[dim];
  std::vector<Array> out;
  std::int64_t from = 0;
  for (std::size_t i = 0; i <= indices.size(); ++i) {
    const std::int64_t to =
        i < indices.size()
            ? std::clamp<std::int64_t>(indices[i] < 0 ? indices[i] + size : indices[i], 0, size)
            : size;
    out.push_back(lax::slice_in_dim(x, from, std::max(from, to), 1, dim));
    from = std::max(from, to);
  }
  return out;
}
std::vector<Array> array_split(const Operand& x, std::int64_t sections, std::int64_t axis) {
  Site site(x);
  if (sections < 1) fail("array_split", "there is at least one part, got {}", sections);
  return split(x, ends_of(x->shape()[axis_of("array_split", axis, x->ndim())], sections), axis);
}
std::vector<Array> hsplit(const Operand& x, std::int64_t sections) {
  Site site(x);
  return split(x, sections, split_axis("hsplit", x, 1));
}
std::vector<Array> hsplit(const Operand& x, const std::vector<std::int64_t>& indices) {
  Site site(x);
  return split(x, indices, split_axis("hsplit", x, 1));
}
std::vector<Array> vsplit(const Operand& x, std::int64_t sections) {
  Site site(x);
  return split(x, sections, split_axis("vsplit", x, 0));
}
std::vector<Array> vsplit(const Operand& x, const std::vector<std::int64_t>& indices) {
  Site site(x);
  return split(x, indices, split_axis("vsplit", x, 0));
}
std::vector<Array> dsplit(const Operand& x, std::int64_t sections) {
  Site site(x);
  return split(x, sections, split_axis("dsplit", x, 2));
}
std::vector<Array> dsplit(const Operand& x, const std::vector<std::int64_t>& indices) {
  Site site(x);
  return split(x, indices, split_axis("dsplit", x, 2));
}

std::vector<Array> unstack(const Operand& x, std::int64_t axis) {
  Site site(x);
  if (x->ndim() == 0) fail("unstack", "a scalar has no axis");
  const int dim = axis_of("unstack", axis, x->ndim());
  std::vector<Array> out;
  for (std::int64_t i = 0; i < x->shape()[dim]; ++i)
    out.push_back(squeeze(lax::slice_in_dim(x, i, i + 1, 1, dim), dim));
  return out;
}

namespace {
/// Places counted from the front. Throws Error out of range; `size` itself is one where `end` is.
Ints places_of(const char* name, Ints places, std::int64_t size) {
  for (std::int64_t& p : places) {
    if (p < -size || p >= size) fail(name, "place {} is out of range for {} elements", p, size);
    p = p < 0 ? p + size : p;
  }
  return places;
}
/// Places between elements; those beyond an end are that end, as upstream.
Ints gaps_of(Ints places, std::int64_t size) {
  for (std::int64_t& p : places) p = std::clamp<std::int64_t>(p < 0 ? p + size : p, 0, size);
  return places;
}
}  // namespace

Array delete_(const Operand& operand, const std::vector<std::int64_t>& places,
              std::optional<std::int64_t> axis) {
  Site site(operand);
  const Array x = axis ? operand.array : ravel(operand);
  const int dim = axis_of("delete", axis.value_or(0), x.ndim());
  const Ints gone = places_of("delete", places, x.shape()[dim]);
  std::vector<std::int32_t> kept;
  for (std::int64_t i = 0; i < x.shape()[dim]; ++i)
    if (std::find(gone.begin(), gone.end(), i) == gone.end())
      kept.push_back(static_cast<std::int32_t>(i));
  return take(x, array(kept), dim, {.mode = "clip"});
}

Array insert(const Operand& operand, const std::vector<std::int64_t>& given,
             const Operand& new_values, std::optional<std::int64_t> axis) {
  Site site(operand);
  const Array x = axis ? operand.array : ravel(operand);
  const int dim = axis_of("insert", axis.value_or(0), x.ndim());
  const std::int64_t n = x.shape()[dim];
  const Ints places = gaps_of(given, n);
  Ints shape = sizes(x);
  shape[static_cast<std::size_t>(dim)] = static_cast<std::int64_t>(places.size());
  const Array values = broadcast_to(internal::cast(new_values, {x.dtype(), x.weak()}), shape);
  // Values of one place keep their order.
  std::vector<std::int32_t> order;
  for (std::int64_t i = 0; i <= n; ++i) {
    for (std::size_t k = 0; k < places.size(); ++k)
      if (places[k] == i)
        order.push_back(static_cast<std::int32_t>(n + static_cast<std::int64_t>(k)));
    if (i < n) order.push_back(static_cast<std::int32_t>(i));
  }
  return take(concatenate({x, values}, dim), array(order), dim, {.mode = "clip"});
}
Array insert(const Operand& operand, std::int64_t place, const Operand& new_values,
             std::optional<std::int64_t> axis) {
  Site site(operand);
  const Array x = axis ? operand.array : ravel(operand);
  const int dim = axis_of("insert", axis.value_or(0), x.ndim());
  // One place takes as many values as there are along the axis.
  Array values = new_values;
  if (values.ndim() > 0) {
    while (values.ndim() < x.ndim()) values = expand_dims(values, 0);
    values = dim == 0 ? values : moveaxis(values, 0, dim);
  }
  const std::int64_t count = values.ndim() == 0 ? 1 : values.shape()[dim];
  return insert(x, Ints(static_cast<std::size_t>(count), place), values, dim);
}

namespace {
/// One array of a nest, and how many lists are within it.
std::pair<Array, int> joined(const Block& nest) {
  if (!nest.is_list()) return {nest.array(), 0};
  if (nest.list().empty()) fail("block", "a list without arrays");
  std::vector<Array> parts;
  int depth = -1, rank = 0;
  for (const Block& b : nest.list()) {
    const auto [part, within] = joined(b);
    if (depth >= 0 && depth != within)
      fail("block", "lists are {} and {} deep; all must be equally deep", depth, within);
    depth = within;
    rank = std::max({rank, part.ndim(), depth + 1});
    parts.push_back(part);
  }
  for (Array& p : parts) {
    Ints aligned = sizes(p);
    aligned.insert(aligned.begin(), static_cast<std::size_t>(rank - p.ndim()), 1);
    p = p.reshape(aligned);
  }
  return {concatenate(parts, -(depth + 1)), depth + 1};
}
}  // namespace

Array block(const Block& blocks, Where where) {
  Site site(where);
  return joined(blocks).first;
}

}  // namespace strata::numpy
