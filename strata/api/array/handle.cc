// What array.h declares of handles, buffers and elements.
#include <cstring>

#include "strata/api/array.h"
#include "strata/api/sharding/devices.h"
#include "strata/api/sharding/explicit_types.h"
#include "strata/api/sharding/placement.h"
#include "strata/api/trace/client.h"
#include "strata/api/trace/trace.h"
#include "strata/base/recycle.h"
#include "strata/runtime/allocator.h"
#include "strata/runtime/device.h"
#include "strata/type/borrowed.h"

namespace strata {
namespace {

DType default_dtype(const internal::ScalarValue& value) {
  if (std::holds_alternative<bool>(value)) return DType::i1;
  if (std::holds_alternative<double>(value)) return canonical(DType::f64, x64_enabled());
  if (std::holds_alternative<std::complex<double>>(value))
    return canonical(DType::c128, x64_enabled());
  return canonical(DType::i64, x64_enabled());
}

/// The same elements in another dtype, on the host.
Literal convert_literal(const Literal& from, DType dtype) {
  if (from.dtype() == dtype) return from;
  Literal to = internal::unwritten(from.type().with(dtype));
  dispatch(dtype, [&](auto t) {
    using T = decltype(t);
    const std::span<T> out = to.mutable_span<T>();
    internal::for_elements<T>(from, [out](std::size_t i, T v) { out[i] = v; });
  });
  return to;
}

void append_sizes(const Nested& nested, std::vector<std::int64_t>& sizes) {
  if (nested.is_scalar()) return;
  sizes.push_back(static_cast<std::int64_t>(nested.list().size()));
  if (!nested.list().empty()) append_sizes(nested.list().front(), sizes);
}

void append_scalars(const Nested& nested, const std::vector<std::int64_t>& sizes, std::size_t depth,
                    std::vector<Array>& out) {
  const bool should_be_scalar = depth == sizes.size();
  if (nested.is_scalar() != should_be_scalar ||
      (!should_be_scalar && static_cast<std::int64_t>(nested.list().size()) != sizes[depth]))
    internal::fail("array", "nested braces are ragged at depth {}: expected {}", depth,
                   should_be_scalar ? "a number" : fmt::format("{} elements", sizes[depth]));
  if (nested.is_scalar()) return out.push_back(nested.scalar());
  for (const Nested& child : nested.list()) append_scalars(child, sizes, depth + 1, out);
}

/// The types of numbers, made once.
const Type& scalar_type(DType dtype) {
  static const std::vector<Type> types = [] {
    std::vector<Type> out;
    for (int i = 0; i < kDTypeCount; ++i) out.push_back(Type::scalar(static_cast<DType>(i)));
    return out;
  }();
  return types[static_cast<std::size_t>(dtype)];
}

}  // namespace

Array::Array(runtime::Buffer buffer) {
  auto state = std::allocate_shared<internal::ArrayState>(Recycled<internal::ArrayState>());
  state->type = buffer.type();
  state->buffer = std::move(buffer);
  state->constant = internal::Trace::current() != nullptr;
  state_ = std::move(state);
}

Array Array::scalar(internal::ScalarValue value) {
  const DType dtype = default_dtype(value);
  return scalar(value, dtype, dtype != DType::i1);
}

Array Array::scalar(internal::ScalarValue value, DType dtype, bool weak) {
  auto state = std::allocate_shared<internal::ArrayState>(Recycled<internal::ArrayState>());
  state->type = scalar_type(dtype);
  state->weak = weak;
  state->scalar = value;
  state->constant = internal::Trace::current() != nullptr;
  return Array(std::shared_ptr<const internal::ArrayState>(std::move(state)));
}

const internal::ArrayState& Array::checked() const {
  if (!state_)
    internal::fail("array",
                   "an array without a value was used (default constructed, or moved from)");
  return *state_;
}

const Type& Array::type() const { return checked().type; }
bool Array::weak() const {
  internal::note_read(checked());
  return state_->weak;
}
bool Array::is_traced() const {
  return checked().value != nullptr && checked().value != internal::deleted_value();
}
bool Array::is_deleted() const { return checked().value == internal::deleted_value(); }
void Array::delete_() const {
  const internal::ArrayState& state = concrete();
  // What a handle points at does not change but here, and who looks from another thread meanwhile
  // uses what its owner deletes.
  auto& gone = const_cast<internal::ArrayState&>(state);
  gone.value = internal::deleted_value();
  gone.buffer = runtime::Buffer();
  gone.scalar.reset();
}
std::vector<Device> Array::devices() const {
  internal::register_cpu();
  runtime::Device* device = runtime::device_of(buffer());
  std::vector<Device> out;
  if (const auto* placement = internal::Placement::of(device))
    for (runtime::Device* d : placement->devices()) out.emplace_back(*d);
  else
    out.emplace_back(*device);
  return out;
}

std::int64_t Array::shape(int i) const {
  if (i < -ndim() || i >= ndim())
    internal::fail("shape", "dimension {} is out of range for {}", i, internal::describe(type()));
  return shape()[i < 0 ? i + ndim() : i];
}

const Array& Array::block_until_ready() const {
  if (const auto& there = concrete().buffer.there()) there->wait();
  return *this;
}

const internal::ArrayState& Array::concrete() const {
  const internal::ArrayState& state = checked();
  if (state.value == internal::deleted_value())
    internal::fail("array", "{} was used after it was deleted", internal::describe(state.type));
  if (state.value)
    internal::fail(
        "array",
        "{} is traced: its elements are not known while the program is being recorded; return it, "
        "or use where, cond or while_loop instead of a C++ branch, and logical_and, logical_or and "
        "logical_not instead of &&, || and !",
        internal::origin(state));
  return state;
}

runtime::Buffer Array::buffer() const& {
  const internal::ArrayState& state = concrete();
  if (state.scalar)
    return runtime::Buffer(internal::scalar_literal(*state.scalar, state.type.dtype()));
  return state.buffer;
}

runtime::Buffer Array::buffer() && {
  checked();
  if (state_.use_count() != 1 || state_->value || state_->scalar) {
    runtime::Buffer out = std::as_const(*this).buffer();
    state_.reset();
    return out;
  }
  // The only handle: nobody can see that its buffer leaves.
  runtime::Buffer out = std::move(const_cast<internal::ArrayState&>(*state_).buffer);
  state_.reset();
  return out;
}

Array::operator bool() const { return item<double>(Where()) != 0; }  // nobody's line

namespace internal {

Literal elements_of(const Array& x, const Where& where) {
  Site site(where);
  return x.literal();
}
Literal only_element(const Array& x, const Where& where) {
  Site site(where);
  if (x.size() != 1)
    fail("item", "the array has {} elements ({}), not one", x.size(), describe(x.type()));
  return x.literal();
}

Literal unwritten(Type type) {
  std::shared_ptr<std::byte[]> bytes = runtime::allocate(type.bytes());
  return Literal(std::move(type), std::move(bytes));
}

Array array_at(const void* data, DType stored, std::int64_t count, const OptionalSizes& shape,
               std::optional<DType> dtype, const Where& where) {
  Literal l;
  if (dtype.value_or(canonical(stored, x64_enabled())) == stored) {
    l = unwritten(Type(stored, Shape{count}));
    if (count > 0) std::memcpy(l.mutable_data(), data, l.bytes());
  } else {  // converted in place
    l = Literal(Type(stored, Shape{count}),
                borrowed_bytes(static_cast<const std::byte*>(data), nullptr));
  }
  return array_of(std::move(l), shape, dtype, where);
}

Array array_of(Literal literal, const OptionalSizes& shape, std::optional<DType> dtype,
               const Where& where) {
  Site site(where);
  Literal l = convert_literal(literal, dtype.value_or(canonical(literal.dtype(), x64_enabled())));
  if (!shape) return Array(std::move(l));
  std::vector<std::int64_t> sizes = *shape;
  std::int64_t known = 1, unknown = 0;
  for (std::int64_t s : sizes) (s < 0 ? unknown : known) = s < 0 ? unknown + 1 : known * s;
  for (std::int64_t& s : sizes)
    if (s < 0 && unknown == 1 && known > 0) s = l.count() / known;
  Shape wanted = Shape::of(sizes);
  if (wanted.count() != l.count())
    fail("array", "{} values do not fill shape {}", l.count(), describe(wanted));
  return Array(Literal(Type(l.dtype(), wanted), l.storage()));
}

}  // namespace internal

Array array(const Nested& values, std::optional<DType> dtype, Where where) {
  internal::Site site(where);
  std::vector<std::int64_t> sizes;
  append_sizes(values, sizes);
  std::vector<Array> scalars;
  append_scalars(values, sizes, 0, scalars);
  std::vector<WeakDType> types;
  for (const Array& s : scalars) types.push_back({s.dtype(), s.weak()});
  const DType natural =
      types.empty() ? canonical(DType::f64, x64_enabled()) : promote(types, x64_enabled()).dtype;
  Literal out(Type(dtype.value_or(natural), Shape::of(sizes)));
  const std::size_t width = byte_width(out.dtype());
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    Literal one = internal::scalar_literal(*scalars[i].state()->scalar, out.dtype());
    std::memcpy(out.mutable_data() + i * width, one.data(), width);
  }
  return Array(std::move(out));
}

Array asarray(const Literal& literal) { return Array(literal); }

}  // namespace strata

namespace strata::internal {
template float element<float>(const Literal& l, std::int64_t i);
template double element<double>(const Literal& l, std::int64_t i);
template int element<int>(const Literal& l, std::int64_t i);
template std::int64_t element<std::int64_t>(const Literal& l, std::int64_t i);
template bool element<bool>(const Literal& l, std::int64_t i);
}  // namespace strata::internal
