// Creation functions of numpy.h. Within a trace they are operations, so that a large array of zeros
// is no constant.
#include "strata/api/numpy/shape/creation.h"

#include <cmath>

#include "strata/api/lax/operations.h"
#include "strata/api/numpy/constants.h"
#include "strata/api/operators.h"
#include "strata/api/trace/compose.h"
#include "strata/api/trace/memory.h"

namespace strata::numpy {
namespace {

using internal::Builder;
using internal::emit_one;
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
  return emit_one({}, false,
                  [&](Builder& b, const Values&) { return op::constant(b, type, value); });
}

/// Zeros on the host.
Literal blank(const char* name, const Type& type) {
  try {
    return Literal(type);
  } catch (const std::bad_alloc&) {
    internal::fail_memory(name, type, Site::text());
  }
}

Array counted(const char* name, double start, double step, double count, DType dtype) {
  if (!(count >= 0)) count = 0;
  if (count > 1e12) fail(name, "{} elements are too many", count);
  const Type type(dtype, Shape{static_cast<std::int64_t>(count)});
  if (is_integer(dtype)) {
    const Array i =
        emit_one({}, false, [&](Builder& b, const Values&) { return op::iota(b, type, 0); });
    const Array from = Array::scalar(static_cast<std::int64_t>(start), dtype, false),
                by = Array::scalar(static_cast<std::int64_t>(step), dtype, false);
    if (start == 0 && step == 1) return i;
    return step == 1 ? i + from : i * by + from;
  }
  // Each element rounded once from the exact product, as NumPy computes it in f64.
  Literal values = blank(name, type);
  for (std::int64_t i = 0; i < values.count(); ++i)
    values.set_number(i, start + static_cast<double>(i) * step);
  return Array(std::move(values));
}

}  // namespace

Array zeros(const Sizes& shape, DType dtype, Where where) {
  Site site(where);
  return filled("zeros", shape, dtype, 0);
}
Array ones(const Sizes& shape, DType dtype, Where where) {
  Site site(where);
  return filled("ones", shape, dtype, 1);
}

Array full(const Sizes& shape, const Operand& value, std::optional<DType> dtype) {
  Site site(value);
  check_sizes("full", shape);
  const Shape result = Shape::of(shape);
  // A C++ number stays weakly typed where no dtype is asked for.
  const Array v = internal::cast(value, {canonical_here(dtype.value_or(value->dtype())),
                                         value->weak() && value->ndim() == 0 && !dtype});
  const Array shapes[] = {v, emit_one({}, false, [&](Builder& b, const Values&) {
                            return op::zeros(b, Type(v.dtype(), result));
                          })};
  if (internal::broadcast_shapes("full", shapes) != result)
    fail("full", "a value of {} does not broadcast to {}", internal::describe(v.type()),
         internal::describe(result));
  return emit_one({v}, v.weak(), [&](Builder& b, const Values& values) {
    return op::broadcast_to(b, values[0], result);
  });
}
namespace {
Array filled_like(const char* name, const Operand& x, double value, std::optional<DType> dtype,
                  const OptionalSizes& shape) {
  Site site(x);
  const Array out =
      filled(name, shape.value_or(Sizes(x->shape())), dtype.value_or(x->dtype()), value);
  return internal::cast(out, {out.dtype(), x->weak() && !dtype});
}
}  // namespace

Array zeros_like(const Operand& x, std::optional<DType> dtype, const OptionalSizes& shape) {
  return filled_like("zeros_like", x, 0, dtype, shape);
}
Array ones_like(const Operand& x, std::optional<DType> dtype, const OptionalSizes& shape) {
  return filled_like("ones_like", x, 1, dtype, shape);
}
Array full_like(const Operand& x, const Operand& value, std::optional<DType> dtype,
                const OptionalSizes& shape) {
  Site site(x);
  const Array out = full(shape.value_or(Sizes(x->shape())), value, dtype.value_or(x->dtype()));
  return internal::cast(out, {out.dtype(), x->weak() && !dtype});
}

Array detail::arange_integers(std::int64_t start, std::int64_t stop, std::int64_t step,
                              std::optional<DType> dtype, Where where) {
  Site site(where);
  if (step == 0) fail("arange", "the step is 0");
  const double count = std::ceil(static_cast<double>(stop - start) / static_cast<double>(step));
  return counted("arange", static_cast<double>(start), static_cast<double>(step), count,
                 canonical_here(dtype.value_or(DType::i64)));
}
Array detail::arange_floats(double start, double stop, double step, std::optional<DType> dtype,
                            Where where) {
  Site site(where);
  if (step == 0) fail("arange", "the step is 0");
  return counted("arange", start, step, std::ceil((stop - start) / step),
                 canonical_here(dtype.value_or(DType::f64)));
}

namespace {
/// `num` numbers, each computed in f64 and rounded once. Integers are rounded down.
template <class F>
Array series(const char* name, std::int64_t num, DType dtype, F f) {
  if (num < 0) fail(name, "the number of elements is at least 0, got {}", num);
  Literal values = blank(name, Type(canonical_here(dtype), Shape{num}));
  for (std::int64_t i = 0; i < num; ++i)
    values.set_number(i, is_integer(dtype) ? std::floor(f(i)) : f(i));
  return Array(std::move(values));
}
/// How far the i-th of `num` numbers is on the way.
double way(std::int64_t i, std::int64_t num, bool endpoint) {
  const std::int64_t steps = endpoint ? num - 1 : num;
  return steps <= 0 ? 0 : static_cast<double>(i) / static_cast<double>(steps);
}
double between(double start, double stop, double t) {
  return t == 1 ? stop : start * (1 - t) + stop * t;
}
}  // namespace

Array linspace(double start, double stop, std::int64_t num, const Spacing& options, Where where) {
  Site site(where);
  return series("linspace", num, options.dtype.value_or(DType::f64), [&](std::int64_t i) {
    return between(start, stop, way(i, num, options.endpoint));
  });
}
Array linspace(double start, double stop, std::int64_t num, DType dtype, Where where) {
  return linspace(start, stop, num, Spacing{.dtype = dtype}, where);
}
Array logspace(double start, double stop, std::int64_t num, const Spacing& options, double base,
               Where where) {
  Site site(where);
  return series("logspace", num, options.dtype.value_or(DType::f64), [&](std::int64_t i) {
    return std::pow(base, between(start, stop, way(i, num, options.endpoint)));
  });
}
Array geomspace(double start, double stop, std::int64_t num, const Spacing& options, Where where) {
  Site site(where);
  if (start == 0 || stop == 0 || (start < 0) != (stop < 0))
    fail("geomspace", "ends of one sign are needed, got {} and {}", start, stop);
  const double sign = start < 0 ? -1 : 1, from = std::log(std::abs(start)),
               to = std::log(std::abs(stop));
  return series("geomspace", num, options.dtype.value_or(DType::f64), [&](std::int64_t i) {
    const double t = way(i, num, options.endpoint);
    return t == 0 ? start : t == 1 ? stop : sign * std::exp(between(from, to, t));
  });
}

Array eye(std::int64_t n, std::optional<std::int64_t> m, std::int64_t k, DType dtype, Where where) {
  Site site(where);
  const Sizes shape{n, m.value_or(n)};
  check_sizes("eye", shape);
  return (lax::broadcasted_iota(int32, shape, 0) + k == lax::broadcasted_iota(int32, shape, 1))
      .astype(dtype);
}
Array tri(std::int64_t n, std::optional<std::int64_t> m, std::int64_t k, DType dtype, Where where) {
  Site site(where);
  const Sizes shape{n, m.value_or(n)};
  check_sizes("tri", shape);
  return (lax::broadcasted_iota(int32, shape, 0) + k >= lax::broadcasted_iota(int32, shape, 1))
      .astype(dtype);
}

std::vector<Array> sparse_indices(const Sizes& dimensions, DType dtype, Where where) {
  Site site(where);
  check_sizes("indices", dimensions);
  std::vector<Array> out;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    std::vector<std::int64_t> shape(dimensions.size(), 1);
    shape[d] = dimensions[d];
    out.push_back(lax::broadcasted_iota(dtype, shape, static_cast<std::int64_t>(d)));
  }
  return out;
}

namespace {
/// A window of a formula in t from 0 to 1; one element is 1.
template <class F>
Array window(const char* name, std::int64_t m, Where where, F f) {
  Site site(where);
  return series(name, std::max<std::int64_t>(m, 0), DType::f64,
                [&](std::int64_t i) { return m == 1 ? 1 : f(way(i, m, true)); });
}
/// The modified Bessel function of order 0, by its series.
double bessel_i0(double x) {
  double term = 1, sum = 1;
  for (int k = 1; term > 1e-18 * sum; ++k) sum += term *= x * x / 4 / (static_cast<double>(k) * k);
  return sum;
}
}  // namespace

Array bartlett(std::int64_t m, Where where) {
  return window("bartlett", m, where, [](double t) { return 1 - std::abs(2 * t - 1); });
}
Array blackman(std::int64_t m, Where where) {
  return window("blackman", m, where, [](double t) {
    return 0.42 - 0.5 * std::cos(2 * pi * t) + 0.08 * std::cos(4 * pi * t);
  });
}
Array hamming(std::int64_t m, Where where) {
  return window("hamming", m, where, [](double t) { return 0.54 - 0.46 * std::cos(2 * pi * t); });
}
Array hanning(std::int64_t m, Where where) {
  return window("hanning", m, where, [](double t) { return 0.5 - 0.5 * std::cos(2 * pi * t); });
}
Array kaiser(std::int64_t m, double beta, Where where) {
  return window("kaiser", m, where, [&](double t) {
    return bessel_i0(beta * std::sqrt(std::max(0.0, 1 - (2 * t - 1) * (2 * t - 1)))) /
           bessel_i0(beta);
  });
}

}  // namespace strata::numpy
