#include "strata/api/lax/operations.h"

#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"
#include "strata/op/control.h"

namespace strata::lax {

Array detail::alike(const char* name, const Array& x, const Array& other) {
  if (other.dtype() != x.dtype() && !(other.weak() && other.ndim() == 0))
    internal::fail(name, "operands have different dtypes: {} and {}", internal::describe(x.type()),
                   internal::describe(other.type()));
  return internal::cast(other, {x.dtype(), x.weak()});
}

namespace {

using internal::axis_of;
using internal::Builder;
using internal::cast;
using internal::describe;
using internal::emit_one;
using internal::fail;
using internal::Ints;
using internal::Site;
using internal::Values;

/// A scalar, or an array of the shape of x.
void require_fits(const char* name, const char* what, const Array& x, const Array& other) {
  if (other.ndim() != 0 && other.shape() != x.shape())
    fail(name, "{} is a scalar or has the shape of {}, got {}", what, describe(x.type()),
         describe(other.type()));
}

}  // namespace

Array pad(const Operand& x, const Operand& value, const std::vector<Padding>& config) {
  Site site(x);
  if (static_cast<int>(config.size()) != x->ndim())
    fail("pad", "{} paddings are given for {}", config.size(), describe(x->type()));
  if (value->ndim() != 0)
    fail("pad", "the padding value is a scalar, got {}", describe(value->type()));
  Ints low, high, interior;
  for (const Padding& p : config) {
    if (p.interior < 0) fail("pad", "interior padding is at least 0, got {}", p.interior);
    low.push_back(p.low);
    high.push_back(p.high);
    interior.push_back(p.interior);
  }
  const Array v = detail::alike("pad", x, value);
  return emit_one({x.array, v}, x->weak(), [&](Builder& b, const Values& values) {
    return op::pad(b, values[0], values[1], low, high, interior);
  });
}
Array broadcast_in_dim(const Operand& x, const Sizes& shape, const Sizes& dimensions) {
  Site site(x);
  return emit_one({x}, x->weak(), [&](Builder& b, const Values& v) {
    return op::broadcast_in_dim(b, v[0], Shape::of(shape), dimensions.get());
  });
}
Array rev(const Operand& x, const Axes& dimensions) {
  Site site(x);
  const Ints dims = internal::axes_of("rev", dimensions, x->ndim());
  if (dims.empty()) return x;
  return emit_one({x}, x->weak(),
                  [&](Builder& b, const Values& v) { return op::reverse(b, v[0], dims); });
}
Array select(const Operand& predicate, const Operand& on_true, const Operand& on_false) {
  Site site(predicate);
  if (predicate->dtype() == DType::i32) return select(predicate.array > 0, on_true, on_false);
  if (!is_bool(predicate->dtype()))
    fail("select", "the predicate is boolean or i32, got {}", describe(predicate->type()));
  require_fits("select", "the predicate", on_true, predicate);
  if (on_true->type() != on_false->type())
    fail("select", "branches have different types: {} and {}", describe(on_true->type()),
         describe(on_false->type()));
  return emit_one({predicate.array, on_true.array, on_false.array},
                  on_true->weak() && on_false->weak(),
                  [](Builder& b, const Values& v) { return op::select(b, v[0], v[1], v[2]); });
}
Array clamp(const Operand& low, const Operand& x, const Operand& high) {
  Site site(x);
  require_fits("clamp", "the lower bound", x, low);
  require_fits("clamp", "the upper bound", x, high);
  return emit_one({detail::alike("clamp", x, low), x.array, detail::alike("clamp", x, high)},
                  x->weak(),
                  [](Builder& b, const Values& v) { return op::clamp(b, v[0], v[1], v[2]); });
}
Array bitcast_convert_type(const Operand& x, DType dtype) {
  Site site(x);
  return emit_one({x}, false,
                  [&](Builder& b, const Values& v) { return op::bitcast_convert(b, v[0], dtype); });
}
Array broadcasted_iota(DType dtype, const Sizes& shape, std::int64_t dimension, Where where) {
  Site site(where);
  for (std::int64_t s : shape)
    if (s < 0) fail("iota", "a size is at least 0, got {}", s);
  const int dim = axis_of("iota", dimension, static_cast<int>(shape.size()));
  if (is_bool(dtype)) fail("iota", "booleans do not count");
  const Type type(canonical(dtype, x64_enabled()), Shape::of(shape));
  return emit_one({}, false, [&](Builder& b, const Values&) { return op::iota(b, type, dim); });
}
Array iota(DType dtype, std::int64_t size, Where where) {
  return broadcasted_iota(dtype, {size}, 0, where);
}
Array stop_gradient(const Operand& x) {
  Site site(x);
  if (!is_inexact(x->dtype())) return x;
  return emit_one({x}, x->weak(), [](Builder& b, const Values& v) {
    return b.create("strata.stop_gradient", {v[0]}).result();
  });
}
std::vector<Array> optimization_barrier(const std::vector<Array>& arrays, Where where) {
  Site site(where);
  std::vector<bool> weak;
  for (const Array& a : arrays) weak.push_back(a.weak());
  return internal::emit(
      arrays, [](Builder& b, const Values& v) { return op::optimization_barrier(b, v); }, weak);
}

}  // namespace strata::lax
