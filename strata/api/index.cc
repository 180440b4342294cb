#include "strata/api/index.h"

#include <algorithm>
#include <numeric>

#include "strata/api/compose.h"
#include "strata/api/lax.h"

namespace strata {
namespace {

using internal::describe;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::sizes;

/// The basic part of an index: a strided slice, axes turned round, then a reshape. Integer arrays stand for whole axes
/// of the result and are listed.
struct Plan {
  Ints start, limit, strides, reversed;
  Ints result;                                    // sizes after dropping indexed axes and inserting new ones
  std::vector<std::pair<int, Array>> arrays;      // axis of the result, index array
  Ints sliced() const {
    Ints out;
    for (std::size_t i = 0; i < start.size(); ++i) out.push_back((limit[i] - start[i] + strides[i] - 1) / strides[i]);
    return out;
  }
};

std::vector<Index> without_ellipsis(const std::vector<Index>& list, const Array& x) {
  int used = 0, dots = 0;
  for (const Index& i : list) {
    if (std::holds_alternative<Ellipsis>(i.item)) ++dots;
    else if (!std::holds_alternative<NewAxis>(i.item)) ++used;
  }
  if (dots > 1) fail("index", "an index has at most one ellipsis");
  if (used > x.ndim()) fail("index", "{} indices are given for {}", used, describe(x.type()));
  std::vector<Index> out;
  const std::vector<Index> rest(static_cast<std::size_t>(x.ndim() - used), Index(Slice{}));
  for (const Index& i : list) {
    if (std::holds_alternative<Ellipsis>(i.item)) out.insert(out.end(), rest.begin(), rest.end());
    else out.push_back(i);
  }
  if (dots == 0) out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

/// Python's slice.indices(size) as a forward range.
void add_slice(Plan& plan, const Slice& s, std::int64_t size, std::int64_t axis) {
  const std::int64_t step = s.step.value_or(1);
  if (step == 0) fail("index", "the step of a slice is 0");
  const std::int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? size : size - 1;
  auto bound = [&](const std::optional<std::int64_t>& v, std::int64_t otherwise) {
    if (!v) return otherwise;
    return std::clamp(*v < 0 ? *v + size : *v, lowest, highest);
  };
  const std::int64_t from = bound(s.start, step > 0 ? lowest : highest), to = bound(s.stop, step > 0 ? highest : lowest);
  const std::int64_t count = step > 0 ? std::max<std::int64_t>(0, (to - from + step - 1) / step) : std::max<std::int64_t>(0, (from - to - step - 1) / -step);
  const std::int64_t stride = std::abs(step);
  const std::int64_t first = count == 0 ? 0 : step > 0 ? from : from + (count - 1) * step;
  plan.start.push_back(first);
  plan.limit.push_back(count == 0 ? first : first + (count - 1) * stride + 1);
  plan.strides.push_back(stride);
  if (step < 0) plan.reversed.push_back(axis);
  plan.result.push_back(count);
}

Plan make_plan(const Array& x, const Indices& indices) {
  Plan plan;
  int axis = 0;
  for (const Index& index : without_ellipsis(indices.list, x)) {
    if (std::holds_alternative<NewAxis>(index.item)) {
      plan.result.push_back(1);
      continue;
    }
    const std::int64_t size = x.shape()[axis];
    if (const auto* i = std::get_if<std::int64_t>(&index.item)) {
      if (*i < -size || *i >= size) fail("index", "index {} is out of range for dimension {} of {}", *i, axis, describe(x.type()));
      const std::int64_t at = *i < 0 ? *i + size : *i;
      plan.start.push_back(at);
      plan.limit.push_back(at + 1);
      plan.strides.push_back(1);
    } else if (const auto* a = std::get_if<Array>(&index.item)) {
      if (!is_integer(a->dtype())) fail("index", "index arrays are integers, got {}; use where for a mask", describe(a->type()));
      plan.arrays.emplace_back(static_cast<int>(plan.result.size()), *a);
      add_slice(plan, Slice{}, size, axis);
    } else {
      add_slice(plan, std::get<Slice>(index.item), size, axis);
    }
    ++axis;
  }
  return plan;
}

bool is_whole(const Array& x, const Plan& plan) { return plan.sliced() == sizes(x) && plan.reversed.empty(); }

Array read_basic(const Array& x, const Plan& plan) {
  const bool strided = std::any_of(plan.strides.begin(), plan.strides.end(), [](std::int64_t s) { return s != 1; });
  Array out = lax::slice(x, plan.start, plan.limit, strided ? Sizes(plan.strides) : Sizes{});
  if (!plan.reversed.empty()) out = lax::rev(out, plan.reversed);
  return out.reshape(plan.result);
}

/// x with the elements of the plan replaced by `view` (of the plan's result shape).
Array write_basic(const Array& x, const Plan& plan, const Array& view) {
  Array part = view.reshape(plan.sliced());
  if (!plan.reversed.empty()) part = lax::rev(part, plan.reversed);
  if (plan.sliced() == sizes(x)) return part;
  if (std::all_of(plan.strides.begin(), plan.strides.end(), [](std::int64_t s) { return s == 1; })) {
    if (part.size() == 0) return x;
    std::vector<Array> starts;
    for (std::int64_t s : plan.start) starts.emplace_back(s);
    return lax::dynamic_update_slice(x, part, starts);
  }
  std::vector<lax::Padding> around;
  for (std::size_t i = 0; i < plan.start.size(); ++i)
    around.push_back({plan.start[i], x.shape()[static_cast<int>(i)] - plan.limit[i], plan.strides[i] - 1});
  return where(lax::pad(ones_like(part, bool_), Array::scalar(false), around), lax::pad(part, 0, around), x);
}

/// Index arrays broadcast and joined into index vectors; negative entries wrapped. `axes`: which axis each is for.
struct Gathered {
  Array starts;      // broadcast shape x number of arrays
  Shape shape;       // the broadcast shape
  Ints axes;
  int position = 0;  // where its axes stand in the result
};

Gathered join(const Array& x, const Plan& plan) {
  Gathered out;
  std::vector<Array> arrays;
  for (const auto& [axis, a] : plan.arrays) {
    out.axes.push_back(axis);
    const Array i = internal::cast(a, {DType::i32, false});
    arrays.push_back(is_unsigned(a.dtype()) ? i : where(i < 0, i + x.shape()[axis], i));
  }
  out.shape = internal::broadcast_shapes("index", arrays);
  for (Array& a : arrays) a = expand_dims(broadcast_to(a, out.shape), -1);
  out.starts = concatenate(arrays, -1);
  const bool adjacent = out.axes.back() - out.axes.front() + 1 == static_cast<std::int64_t>(out.axes.size());
  out.position = adjacent ? static_cast<int>(out.axes.front()) : 0;
  return out;
}

/// Result axes that come from x's other axes.
Ints window_axes(const Array& x, const Gathered& g) {
  Ints out;
  const int rank = x.ndim() - static_cast<int>(g.axes.size()) + g.shape.rank();
  for (int d = 0; d < rank; ++d)
    if (d < g.position || d >= g.position + g.shape.rank()) out.push_back(d);
  return out;
}

Array read_arrays(const Array& x, const Plan& plan) {
  const Gathered g = join(x, plan);
  Ints slice_sizes = sizes(x);
  for (std::int64_t a : g.axes) slice_sizes[static_cast<std::size_t>(a)] = 1;
  return lax::gather(x, g.starts, {.offset_dims = window_axes(x, g), .collapsed_slice_dims = g.axes, .start_index_map = g.axes,
                                   .operand_batching_dims = {}, .start_indices_batching_dims = {}}, slice_sizes);
}

/// NumPy's value broadcasting: to the shape of what is replaced.
Array broadcast_values(const Array& values, const Shape& shape) {
  // Leading axes of size 1 beyond the target's rank are allowed and dropped.
  Array v = values;
  while (v.ndim() > shape.rank() && v.shape()[0] == 1) v = squeeze(v, 0);
  return broadcast_to(v, shape);
}

}  // namespace

Array Array::operator[](const Indices& indices) const {
  Site site(indices.where);
  const Plan plan = make_plan(*this, indices);
  const Array view = read_basic(*this, plan);
  return plan.arrays.empty() ? view : read_arrays(view, plan);
}

Update Array::at(const Indices& indices) const { return Update(*this, indices); }

Array Update::apply(Kind kind, const Operand& operand) const {
  Site site(indices_.where);
  const Plan plan = make_plan(array_, indices_);
  const Array view = read_basic(array_, plan);
  const Array values = internal::cast(operand, {array_.dtype(), array_.weak()});
  if (plan.arrays.empty()) {
    const Array v = broadcast_values(values, view.shape());
    switch (kind) {
      case Kind::set: return write_basic(array_, plan, v);
      case Kind::add: return write_basic(array_, plan, view + v);
      case Kind::multiply: return write_basic(array_, plan, view * v);
      case Kind::min: return write_basic(array_, plan, minimum(view, v));
      case Kind::max: return write_basic(array_, plan, maximum(view, v));
    }
  }
  const Gathered g = join(view, plan);
  const lax::ScatterDimensionNumbers dims{.update_window_dims = window_axes(view, g), .inserted_window_dims = g.axes,
                                          .scatter_dims_to_operand_dims = g.axes, .operand_batching_dims = {}, .scatter_indices_batching_dims = {}};
  Ints target;
  Ints rest = sizes(view);
  for (std::size_t k = g.axes.size(); k-- > 0;) rest.erase(rest.begin() + g.axes[k]);
  target = rest;
  const Ints broadcast = g.shape.sizes();
  target.insert(target.begin() + g.position, broadcast.begin(), broadcast.end());
  const Array v = broadcast_values(values, Shape::of(target));
  const Array updated = [&] {
    switch (kind) {
      case Kind::set: return lax::scatter(view, g.starts, v, dims);
      case Kind::add: return lax::scatter_add(view, g.starts, v, dims);
      case Kind::multiply: return lax::scatter_mul(view, g.starts, v, dims);
      case Kind::min: return lax::scatter_min(view, g.starts, v, dims);
      case Kind::max: return lax::scatter_max(view, g.starts, v, dims);
    }
    STRATA_UNREACHABLE("kind of update");
  }();
  return is_whole(array_, plan) ? updated.reshape(array_.shape()) : write_basic(array_, plan, updated);
}

Array Update::set(const Operand& values) const { return apply(Kind::set, values); }
Array Update::add(const Operand& values) const { return apply(Kind::add, values); }
Array Update::multiply(const Operand& values) const { return apply(Kind::multiply, values); }
Array Update::min(const Operand& values) const { return apply(Kind::min, values); }
Array Update::max(const Operand& values) const { return apply(Kind::max, values); }

}  // namespace strata
