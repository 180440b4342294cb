// What index.h declares: x[...] and x.at(...), by slices, gathers and scatters.
#include <algorithm>

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/numpy/index/sized.h"
#include "strata/api/trace/compose.h"
#include "strata/api/trace/integer_index.h"

namespace strata {
namespace {

using internal::describe;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::sizes;
using Mode = lax::GatherScatterMode;

/// The basic part of an index: a strided slice, axes turned round, then a reshape. Integer arrays
/// stand for whole axes of the result and are listed.
struct Plan {
  Ints start, limit, strides, reversed;
  Ints result;  // sizes after dropping indexed axes and inserting new ones
  std::vector<std::pair<int, Array>> arrays;  // axis of the result, index array
  int position =
      0;  // where the arrays' own axes stand: at the first of adjacent ones, else in front
  Ints sliced() const {
    Ints out;
    for (std::size_t i = 0; i < start.size(); ++i)
      out.push_back((limit[i] - start[i] + strides[i] - 1) / strides[i]);
    return out;
  }
};

bool is_mask(const Index& i) {
  const auto* a = std::get_if<Array>(&i.item);
  return a && is_bool(a->dtype());
}
/// How many axes an entry takes.
int axes_taken(const Index& i) {
  if (std::holds_alternative<NewAxis>(i.item)) return 0;
  return is_mask(i) ? std::get<Array>(i.item).ndim() : 1;
}

std::vector<Index> without_ellipsis(const std::vector<Index>& list, const Array& x) {
  int used = 0, dots = 0;
  for (const Index& i : list) {
    if (std::holds_alternative<Ellipsis>(i.item))
      ++dots;
    else
      used += axes_taken(i);
  }
  if (dots > 1) fail("index", "an index has at most one ellipsis");
  if (used > x.ndim()) fail("index", "{} indices are given for {}", used, describe(x.type()));
  std::vector<Index> out;
  const std::vector<Index> rest(static_cast<std::size_t>(x.ndim() - used), Index(Slice{}));
  for (const Index& i : list) {
    if (std::holds_alternative<Ellipsis>(i.item))
      out.insert(out.end(), rest.begin(), rest.end());
    else
      out.push_back(i);
  }
  if (dots == 0) out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

/// The indices of a mask's true elements, an array for each of its axes; for one without axes, of a
/// new axis.
std::vector<Array> true_places(const Array& mask) {
  internal::require_known("index", mask,
                          "where(mask, a, b) keeps the shape, nonzero(mask, {.size = n}) fixes it");
  return numpy::nonzero(mask.ndim() == 0 ? mask.reshape({1}) : mask);
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
  const std::int64_t from = bound(s.start, step > 0 ? lowest : highest),
                     to = bound(s.stop, step > 0 ? highest : lowest);
  const std::int64_t count = step > 0 ? std::max<std::int64_t>(0, (to - from + step - 1) / step)
                                      : std::max<std::int64_t>(0, (from - to - step - 1) / -step);
  const std::int64_t stride = std::abs(step);
  const std::int64_t first = count == 0 ? 0 : step > 0 ? from : from + (count - 1) * step;
  plan.start.push_back(first);
  plan.limit.push_back(count == 0 ? first : first + (count - 1) * stride + 1);
  plan.strides.push_back(stride);
  if (step < 0) plan.reversed.push_back(axis);
  plan.result.push_back(count);
}

/// The plan of entries, one by one.
class Planner {
 public:
  Planner(const Array& x, const std::vector<Index>& entries) : x_(x) {
    for (const Index& index : entries) add(index);
    if (plan_.arrays.empty() || parted_) plan_.position = 0;
  }
  Plan take() { return std::move(plan_); }

 private:
  void add(const Index& index) {
    if (const auto* i = std::get_if<std::int64_t>(&index.item))
      add_number(*i);
    else if (const auto* a = std::get_if<Array>(&index.item))
      is_bool(a->dtype()) ? add_mask(*a) : add_array(*a);
    else if (const auto* s = std::get_if<Slice>(&index.item))
      add_slice(plan_, *s, x_.shape()[axis_], axis_), ++axis_, after_ = begun_;
    else
      plan_.result.push_back(1), after_ = begun_;
  }
  /// Numbers and arrays that are not beside each other put the arrays' axes in front; this is known
  /// when all have been seen.
  void advanced() {
    parted_ |= after_;
    if (!begun_) plan_.position = static_cast<int>(plan_.result.size());
    begun_ = true;
  }
  void add_number(std::int64_t i) {
    const std::int64_t size = x_.shape()[axis_];
    if (i < -size || i >= size)
      fail("index", "index {} is out of range for dimension {} of {}", i, axis_,
           describe(x_.type()));
    const std::int64_t at = i < 0 ? i + size : i;
    plan_.start.push_back(at);
    plan_.limit.push_back(at + 1);
    plan_.strides.push_back(1);
    ++axis_;
    advanced();
  }
  void add_array(const Array& a) {
    if (!is_integer(a.dtype()))
      fail("index", "index arrays are integers or booleans, got {}", describe(a.type()));
    advanced();
    plan_.arrays.emplace_back(static_cast<int>(plan_.result.size()), a);
    add_slice(plan_, Slice{}, x_.shape()[axis_], axis_);
    ++axis_;
  }
  void add_mask(const Array& mask) {
    for (int d = 0; d < mask.ndim(); ++d)
      if (mask.shape()[d] != x_.shape()[axis_ + d])
        fail("index", "a mask {} stands at dimension {} of {}, whose size is another",
             describe(mask.type()), axis_, describe(x_.type()));
    const std::vector<Array> places = true_places(mask);
    if (mask.ndim() == 0) {
      advanced();
      plan_.arrays.emplace_back(static_cast<int>(plan_.result.size()), places[0]);
      plan_.result.push_back(1);
      return;
    }
    for (const Array& p : places) add_array(p);
  }

  const Array& x_;
  Plan plan_;
  int axis_ = 0;
  bool begun_ = false, after_ = false,
       parted_ = false;  // numbers or arrays have been seen; something else after them; and others
                         // after that
};

Plan make_plan(const Array& x, const Indices& indices) {
  return Planner(x, without_ellipsis(indices.list, x)).take();
}

bool is_whole(const Array& x, const Plan& plan) {
  return plan.sliced() == sizes(x) && plan.reversed.empty();
}

Array read_basic(const Array& x, const Plan& plan) {
  const bool strided =
      std::any_of(plan.strides.begin(), plan.strides.end(), [](std::int64_t s) { return s != 1; });
  Array out = lax::slice(x, plan.start, plan.limit, strided ? Sizes(plan.strides) : Sizes{});
  if (!plan.reversed.empty()) out = lax::rev(out, plan.reversed);
  return out.reshape(plan.result);
}

/// x with the elements of the plan replaced by `view` (of the plan's result shape).
Array write_basic(const Array& x, const Plan& plan, const Array& view) {
  Array part = view.reshape(plan.sliced());
  if (!plan.reversed.empty()) part = lax::rev(part, plan.reversed);
  if (plan.sliced() == sizes(x)) return part;
  if (std::all_of(plan.strides.begin(), plan.strides.end(),
                  [](std::int64_t s) { return s == 1; })) {
    if (part.size() == 0) return x;
    std::vector<Array> starts;
    for (std::int64_t s : plan.start) starts.emplace_back(s);
    return lax::dynamic_update_slice(x, part, starts);
  }
  std::vector<lax::Padding> around;
  for (std::size_t i = 0; i < plan.start.size(); ++i)
    around.push_back(
        {plan.start[i], x.shape()[static_cast<int>(i)] - plan.limit[i], plan.strides[i] - 1});
  return where(lax::pad(ones_like(part, bool_), Array::scalar(false), around),
               lax::pad(part, 0, around), x);
}

/// Index arrays broadcast and joined into index vectors; negative entries wrapped. `axes`: which
/// axis each is for.
struct Gathered {
  Array starts;  // broadcast shape x number of arrays
  Shape shape;   // the broadcast shape
  Ints axes;
  int position = 0;  // where its axes stand in the result
};

Gathered join(const Array& x, const Plan& plan) {
  Gathered out;
  std::vector<Array> arrays;
  for (const auto& [axis, a] : plan.arrays) {
    out.axes.push_back(axis);
    arrays.push_back(internal::index_from_end(a, x.shape()[axis]));
  }
  out.shape = internal::broadcast_shapes("index", arrays);
  for (Array& a : arrays) a = expand_dims(broadcast_to(a, out.shape), -1);
  out.starts = concatenate(arrays, -1);
  out.position = plan.position;
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

Array read_arrays(const Array& x, const Gathered& g, const lax::GatherOptions& how) {
  Ints slice_sizes = sizes(x);
  for (std::int64_t a : g.axes) slice_sizes[static_cast<std::size_t>(a)] = 1;
  return lax::gather(x, g.starts,
                     {.offset_dims = window_axes(x, g),
                      .collapsed_slice_dims = g.axes,
                      .start_index_map = g.axes,
                      .operand_batching_dims = {},
                      .start_indices_batching_dims = {}},
                     slice_sizes, how);
}

}  // namespace

Array Array::operator[](const Indices& indices) const { return Update(*this, indices).get(); }

Update Array::at(const Indices& indices) const { return Update(*this, indices); }

Array Update::get(const AtOptions& options) const {
  Site site(indices_.where);
  const lax::GatherOptions how{
      .unique_indices = options.unique_indices,
      .indices_are_sorted = options.indices_are_sorted,
      .mode = lax::detail::mode_of("index", options.mode, Mode::PROMISE_IN_BOUNDS),
      .fill_value = options.fill_value};
  const Plan plan = make_plan(array_, indices_);
  const Array view = read_basic(array_, plan);
  return plan.arrays.empty() ? view : read_arrays(view, join(view, plan), how);
}

Array Update::apply(Kind kind, const Array& values, const AtOptions& options) const {
  Site site(indices_.where);
  const WeakDType type = internal::promoted("index", std::vector<Array>{array_, values});
  return internal::cast(
      apply_to(internal::cast(array_, type), kind, internal::cast(values, type), options),
      {array_.dtype(), array_.weak()});
}

Array Update::apply_to(const Array& array, Kind kind, const Array& values,
                       const AtOptions& options) const {
  const lax::ScatterOptions how{
      .indices_are_sorted = options.indices_are_sorted,
      .unique_indices = options.unique_indices,
      .mode = lax::detail::mode_of("index", options.mode, Mode::FILL_OR_DROP)};
  const Plan plan = make_plan(array, indices_);
  const Array view = read_basic(array, plan);
  if (plan.arrays.empty()) {
    const Array v = broadcast_to(values, view.shape());
    switch (kind) {
      case Kind::set: return write_basic(array, plan, v);
      case Kind::add: return write_basic(array, plan, view + v);
      case Kind::multiply: return write_basic(array, plan, view * v);
      case Kind::min: return write_basic(array, plan, minimum(view, v));
      case Kind::max: return write_basic(array, plan, maximum(view, v));
    }
  }
  const Gathered g = join(view, plan);
  const lax::ScatterDimensionNumbers dims{.update_window_dims = window_axes(view, g),
                                          .inserted_window_dims = g.axes,
                                          .scatter_dims_to_operand_dims = g.axes,
                                          .operand_batching_dims = {},
                                          .scatter_indices_batching_dims = {}};
  Ints target = sizes(view);
  for (std::size_t k = g.axes.size(); k-- > 0;) target.erase(target.begin() + g.axes[k]);
  const Ints broadcast = g.shape.sizes();
  target.insert(target.begin() + g.position, broadcast.begin(), broadcast.end());
  const Array v = broadcast_to(values, target);
  const Array updated = [&] {
    switch (kind) {
      case Kind::set: return lax::scatter(view, g.starts, v, dims, how);
      case Kind::add: return lax::scatter_add(view, g.starts, v, dims, how);
      case Kind::multiply: return lax::scatter_mul(view, g.starts, v, dims, how);
      case Kind::min: return lax::scatter_min(view, g.starts, v, dims, how);
      case Kind::max: return lax::scatter_max(view, g.starts, v, dims, how);
    }
    STRATA_UNREACHABLE("kind of update");
  }();
  return is_whole(array, plan) ? updated.reshape(array.shape()) : write_basic(array, plan, updated);
}

Array Update::set(const Operand& values, const AtOptions& options) const {
  return apply(Kind::set, values, options);
}
Array Update::add(const Operand& values, const AtOptions& options) const {
  return apply(Kind::add, values, options);
}
Array Update::subtract(const Operand& values, const AtOptions& options) const {
  Site site(indices_.where);
  return apply(Kind::add, negative(values), options);
}
Array Update::multiply(const Operand& values, const AtOptions& options) const {
  return apply(Kind::multiply, values, options);
}
Array Update::divide(const Operand& values, const AtOptions& options) const {
  Site site(indices_.where);
  return array_ / ones_like(array_).at(indices_).multiply(values, options);
}
Array Update::power(const Operand& values, const AtOptions& options) const {
  Site site(indices_.where);
  return numpy::power(array_, ones_like(array_).at(indices_).multiply(values, options));
}
Array Update::min(const Operand& values, const AtOptions& options) const {
  return apply(Kind::min, values, options);
}
Array Update::max(const Operand& values, const AtOptions& options) const {
  return apply(Kind::max, values, options);
}

}  // namespace strata
