#include "strata/api/trace/compose.h"

#include <algorithm>
#include <limits>

#include "strata/api/trace/eager.h"
#include "strata/base/recycle.h"

namespace strata::internal {

WeakDType promoted(const char* operation, std::span<const Array> arrays) {
  std::vector<WeakDType> types;
  for (const Array& a : arrays) types.push_back({a.dtype(), a.weak()});
  try {
    return promote(types, x64_enabled());
  } catch (const Error& e) {
    fail(operation, "{}", e.message());
  }
}

WeakDType inexact(WeakDType type) {
  if (is_inexact(type.dtype)) return type;
  return {canonical(DType::f64, x64_enabled()), type.weak};
}

namespace {
/// The number of a scalar as its dtype has it.
ScalarValue rounded(const Array& x) {
  const Literal l = scalar_literal(*x.state()->scalar, x.dtype());
  if (is_bool(x.dtype())) return element<bool>(l, 0);
  if (is_unsigned(x.dtype())) return element<std::uint64_t>(l, 0);
  if (is_integer(x.dtype())) return element<std::int64_t>(l, 0);
  if (is_complex(x.dtype())) return element<std::complex<double>>(l, 0);
  return element<double>(l, 0);
}
}  // namespace

Array cast(const Array& x, WeakDType type) {
  if (x.dtype() == type.dtype && x.weak() == type.weak) return x;
  // A weak number is still the one that was written; a strong one has been rounded. The host has no
  // numbers of the narrow types.
  if (x.state()->scalar && has_storage(type.dtype))
    return Array::scalar(x.weak() ? *x.state()->scalar : rounded(x), type.dtype, type.weak);
  if (x.dtype() == type.dtype) {
    // Only the weakness differs: the same value under another handle.
    auto state = std::allocate_shared<ArrayState>(Recycled<ArrayState>(), *x.state());
    state->weak = type.weak;
    return Array(std::shared_ptr<const ArrayState>(std::move(state)));
  }
  return emit_known(EagerKey().add("convert").add(x).add(type.dtype).add(type.weak), {&x}, [&] {
    return Emitted{{x}, type.weak, [dtype = type.dtype](Builder& b, const Values& v) {
                     return op::convert(b, v[0], dtype);
                   }};
  });
}

Shape broadcast_shapes(const char* operation, std::span<const Array> arrays) {
  int rank = 0;
  for (const Array& a : arrays) rank = std::max(rank, a.ndim());
  std::vector<Dim> dims(static_cast<std::size_t>(rank), Dim(1));
  for (const Array& a : arrays)
    for (int i = 0; i < a.ndim(); ++i) {
      Dim& common = dims[static_cast<std::size_t>(rank - a.ndim() + i)];
      const Dim& own = a.shape().dim(i);
      if (common == own || own == Dim(1)) continue;
      if (common == Dim(1)) {
        common = own;
        continue;
      }
      std::string shapes;
      for (const Array& each : arrays)
        shapes += (shapes.empty() ? "" : " and ") + describe(each.type());
      fail(operation, "shapes of {} do not broadcast: sizes {} and {} meet in dimension {}", shapes,
           common.size(), own.size(), i - a.ndim());
    }
  return Shape(std::move(dims));
}

int axis_of(const char* operation, std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    fail(operation, "axis {} is out of range for an array of {} dimensions", axis, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Ints axes_of(const char* operation, const Axes& axes, int rank) {
  try {
    return axes.resolve(rank);
  } catch (const Error& e) {
    fail(operation, "{}", e.message());
  }
}

Array unary(const Array& x, Unary f) {
  return emit_known(EagerKey().add("unary").add(f).add(x), {&x}, [&] {
    return Emitted{{x}, x.weak(), [f](Builder& b, const Values& v) { return f(b, v[0]); }};
  });
}

Array unary(const Array& x, const char* operation) {
  return emit_known(EagerKey().add(operation).add(x), {&x}, [&] {
    return Emitted{{x}, x.weak(), [operation](Builder& b, const Values& v) {
                     return b.create(operation, {v[0]}).result();
                   }};
  });
}

Array as_inexact(const Array& x) { return cast(x, inexact({x.dtype(), x.weak()})); }

void require_real(const char* operation, const Array& x) {
  if (is_complex(x.dtype()))
    fail(operation, "complex numbers have no order, got {}", describe(x.type()));
}

namespace {
double largest_finite(DType dtype) {
  switch (dtype) {
    case DType::f16: return 65504;
    case DType::bf16: return 0x1.FEp127;
    case DType::f32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}
}  // namespace

Array greatest(DType dtype) {
  if (is_inexact(dtype)) return Array::scalar(largest_finite(dtype), dtype, false);
  if (is_bool(dtype)) return Array::scalar(true);
  return Array::scalar(~std::uint64_t{0} >> (64 - bit_width(dtype) + (is_unsigned(dtype) ? 0 : 1)),
                       dtype, false);
}
Array least(DType dtype) {
  if (is_inexact(dtype)) return Array::scalar(-largest_finite(dtype), dtype, false);
  if (is_bool(dtype)) return Array::scalar(false);
  return Array::scalar(
      is_unsigned(dtype) ? std::int64_t{0} : -(std::int64_t{1} << (bit_width(dtype) - 2)) * 2,
      dtype, false);
}

namespace {
/// Operands cast to their common dtype and broadcast, then f.
Emitted emitted_binary(const char* operation, std::span<const Array> operands, Binary f,
                       BinaryOptions options) {
  const WeakDType type = [&] {
    const WeakDType common = promoted(operation, operands);
    return options.to_inexact ? inexact(common) : common;
  }();
  auto prepare = [&](const Array& a) { return a.state()->scalar ? cast(a, type) : a; };
  return {{prepare(operands[0]), prepare(operands[1])},
          type.weak && !options.predicate,
          [f, dtype = type.dtype, shape = broadcast_shapes(operation, operands)](Builder& b,
                                                                                 const Values& v) {
            auto ready = [&](Value* value) {
              return op::broadcast_to(b, op::convert(b, value, dtype), shape);
            };
            Value* left = ready(v[0]);
            return f(b, left, v[1] == v[0] ? left : ready(v[1]));
          }};
}
}  // namespace

Array binary(const char* operation, const Operand& x, const Operand& y, Binary f,
             BinaryOptions options) {
  const bool is_same = x.array.state() == y.array.state();
  return emit_known(EagerKey()
                        .add("binary")
                        .add(f)
                        .add(options.to_inexact)
                        .add(options.predicate)
                        .add(is_same)
                        .add(x.array)
                        .add(y.array),
                    {&x.array, &y.array}, [&] {
                      const Array operands[] = {x.array, y.array};
                      return emitted_binary(operation, operands, f, options);
                    });
}

std::vector<Array> broadcast_promoted(const char* operation, std::vector<Array> arrays) {
  const WeakDType type = promoted(operation, arrays);
  const Shape shape = broadcast_shapes(operation, arrays);
  for (Array& a : arrays) {
    a = cast(a, type);
    if (a.shape() == shape) continue;
    a = emit_one({a}, type.weak,
                 [&](Builder& b, const Values& v) { return op::broadcast_to(b, v[0], shape); });
  }
  return arrays;
}

}  // namespace strata::internal
