// Creation functions of numpy.h. Within a trace they are operations, so that a large array of zeros is no constant.
#include <cmath>

#include "strata/api/compose.h"
#include "strata/api/lax.h"

namespace strata {
namespace {

using internal::emit_one;
using internal::Builder;
using internal::fail;
using internal::Site;
using internal::Values;

DType canonical_here(DType dtype) { return canonical(dtype, x64_enabled()); }

void check_sizes(const char* name, const Sizes& shape) {
  for (std::int64_t s : shape)
    if (s < 0) fail(name, "a size is at least 0, got {}", s);
}

Array filled(const char* name, const Sizes& shape, DType dtype, double value) {
  check_sizes(name, shape);
  const Type type(canonical_here(dtype), Shape::of(shape));
  return emit_one({}, false, [&](Builder& b, const Values&) { return op::constant(b, type, value); });
}

Array counted(const char* name, double start, double step, double count, DType dtype) {
  if (!(count >= 0)) count = 0;
  if (count > 1e12) fail(name, "{} elements are too many", count);
  const Type type(dtype, Shape{static_cast<std::int64_t>(count)});
  if (is_integer(dtype)) {
    const Array i = emit_one({}, false, [&](Builder& b, const Values&) { return op::iota(b, type, 0); });
    const Array from = Array::scalar(static_cast<std::int64_t>(start), dtype, false), by = Array::scalar(static_cast<std::int64_t>(step), dtype, false);
    if (start == 0 && step == 1) return i;
    return step == 1 ? i + from : i * by + from;
  }
  // Each element rounded once from the exact product, as NumPy computes it in f64.
  Literal values(type);
  for (std::int64_t i = 0; i < values.count(); ++i) values.set_number(i, start + static_cast<double>(i) * step);
  return Array(std::move(values));
}

}  // namespace

Array zeros(const Sizes& shape, DType dtype, Where where) { Site site(where); return filled("zeros", shape, dtype, 0); }
Array ones(const Sizes& shape, DType dtype, Where where) { Site site(where); return filled("ones", shape, dtype, 1); }

Array full(const Sizes& shape, const Operand& value, std::optional<DType> dtype) {
  Site site(value);
  check_sizes("full", shape);
  const Shape result = Shape::of(shape);
  const Array v = internal::cast(value, {canonical_here(dtype.value_or(value->dtype())), false});
  const Array shapes[] = {v, emit_one({}, false, [&](Builder& b, const Values&) { return op::zeros(b, Type(v.dtype(), result)); })};
  if (internal::broadcast_shapes("full", shapes) != result)
    fail("full", "a value of {} does not broadcast to {}", internal::describe(v.type()), internal::describe(result));
  return emit_one({v}, false, [&](Builder& b, const Values& values) { return op::broadcast_to(b, values[0], result); });
}
Array zeros_like(const Operand& x, std::optional<DType> dtype) { Site site(x); return filled("zeros_like", x->shape(), dtype.value_or(x->dtype()), 0); }
Array ones_like(const Operand& x, std::optional<DType> dtype) { Site site(x); return filled("ones_like", x->shape(), dtype.value_or(x->dtype()), 1); }
Array full_like(const Operand& x, const Operand& value, std::optional<DType> dtype) {
  Site site(x);
  return full(x->shape(), value, dtype.value_or(x->dtype()));
}

Array arange(std::int64_t stop, std::optional<DType> dtype, Where where) { return internal::arange_integers(0, stop, 1, dtype, where); }
Array internal::arange_integers(std::int64_t start, std::int64_t stop, std::int64_t step, std::optional<DType> dtype, Where where) {
  Site site(where);
  if (step == 0) fail("arange", "the step is 0");
  const double count = std::ceil(static_cast<double>(stop - start) / static_cast<double>(step));
  return counted("arange", static_cast<double>(start), static_cast<double>(step), count, canonical_here(dtype.value_or(DType::i64)));
}
Array internal::arange_floats(double start, double stop, double step, std::optional<DType> dtype, Where where) {
  Site site(where);
  if (step == 0) fail("arange", "the step is 0");
  return counted("arange", start, step, std::ceil((stop - start) / step), canonical_here(dtype.value_or(DType::f64)));
}

Array linspace(double start, double stop, std::int64_t num, DType dtype, Where where) {
  Site site(where);
  if (num < 0) fail("linspace", "the number of elements is at least 0, got {}", num);
  Literal values(Type(canonical_here(dtype), Shape{num}));
  for (std::int64_t i = 0; i < num; ++i) {
    const double t = num == 1 ? 0 : static_cast<double>(i) / static_cast<double>(num - 1);
    values.set_number(i, i == num - 1 && num > 1 ? stop : start * (1 - t) + stop * t);
  }
  return Array(std::move(values));
}

Array eye(std::int64_t n, std::optional<std::int64_t> m, std::int64_t k, DType dtype, Where where) {
  Site site(where);
  const Sizes shape{n, m.value_or(n)};
  check_sizes("eye", shape);
  return (lax::broadcasted_iota(int32, shape, 0) + k == lax::broadcasted_iota(int32, shape, 1)).astype(dtype);
}
Array tri(std::int64_t n, std::optional<std::int64_t> m, std::int64_t k, DType dtype, Where where) {
  Site site(where);
  const Sizes shape{n, m.value_or(n)};
  check_sizes("tri", shape);
  return (lax::broadcasted_iota(int32, shape, 0) + k >= lax::broadcasted_iota(int32, shape, 1)).astype(dtype);
}

namespace lax {
Array broadcasted_iota(DType dtype, const Sizes& shape, std::int64_t dimension, Where where) {
  Site site(where);
  check_sizes("iota", shape);
  const int dim = internal::axis_of("iota", dimension, static_cast<int>(shape.size()));
  const Type type(canonical_here(dtype), Shape::of(shape));
  return emit_one({}, false, [&](Builder& b, const Values&) { return op::iota(b, type, dim); });
}
Array iota(DType dtype, std::int64_t size, Where where) { return broadcasted_iota(dtype, {size}, 0, where); }
}  // namespace lax

}  // namespace strata
