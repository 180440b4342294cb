#include "strata/type/literal.h"

#include <sys/mman.h>

#include "strata/type/minifloat.h"

namespace strata {
namespace {

/// 64-byte aligned, zeroed. Large ones ask for huge pages: kernels stream through them, and small pages cost them a walk of
/// the page table every 4 KiB.
std::shared_ptr<std::byte[]> allocate(std::size_t bytes) {
  constexpr std::size_t kHuge = std::size_t{2} << 20;
  std::size_t align = bytes >= kHuge ? kHuge : 64, size = (bytes + align - 1) / align * align;
  if (size == 0) size = align;
  void* p = std::aligned_alloc(align, size);
  if (p == nullptr) throw std::bad_alloc();
  if (align == kHuge) madvise(p, size, MADV_HUGEPAGE);
  std::memset(p, 0, size);
  return {static_cast<std::byte*>(p), [](std::byte* q) { std::free(q); }};
}

template <class T> constexpr bool is_complex_v = false;
template <class T> constexpr bool is_complex_v<std::complex<T>> = true;
template <class T> constexpr bool is_small_float_v = std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;

template <class T> double to_double(T v) {
  if constexpr (is_complex_v<T>) return static_cast<double>(v.real());
  else if constexpr (is_small_float_v<T>) return static_cast<double>(static_cast<float>(v));
  else return static_cast<double>(v);
}
template <class T> T from_double(double v) {
  if constexpr (is_complex_v<T>) return T(static_cast<typename T::value_type>(v));
  else if constexpr (is_small_float_v<T>) return T(static_cast<float>(v));
  else return static_cast<T>(v);
}

/// i2, i4, ui2, ui4: a byte each, extended by the sign or by zeros.
bool is_narrow_integer(DType dtype) { return is_integer(dtype) && bit_width(dtype) < 8; }
std::int8_t wrapped(DType dtype, std::int64_t value) {
  int spare = 8 - bit_width(dtype);
  auto high = static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) << spare);
  return is_signed(dtype) ? static_cast<std::int8_t>(static_cast<std::int8_t>(high) >> spare) : static_cast<std::int8_t>(high >> spare);
}

}  // namespace

bool has_storage(DType d) {
  switch (d) {
    case DType::i1: case DType::i8: case DType::i16: case DType::i32: case DType::i64:
    case DType::ui8: case DType::ui16: case DType::ui32: case DType::ui64:
    case DType::bf16: case DType::f16: case DType::f32: case DType::f64: case DType::c64: case DType::c128: return true;
    default: return false;
  }
}

Literal::Literal() = default;
Literal::Literal(const Literal&) = default;
Literal::Literal(Literal&&) noexcept = default;
Literal& Literal::operator=(const Literal&) = default;
Literal& Literal::operator=(Literal&&) noexcept = default;
Literal::~Literal() = default;

Literal::Literal(Type type) : type_(std::move(type)), bytes_(allocate(type_.bytes())) {}

Literal Literal::full(Type type, double value) {
  Literal out(std::move(type));
  for (std::int64_t i = 0, n = out.count(); i < n; ++i) out.set_number(i, value);
  return out;
}

double Literal::number(std::int64_t i) const {
  if (is_minifloat(dtype())) return minifloat_value(dtype(), static_cast<std::uint8_t>(data()[i]));
  if (is_narrow_integer(dtype())) return static_cast<double>(integer(i));
  return dispatch(dtype(), [&](auto t) { return to_double(span<decltype(t)>()[static_cast<std::size_t>(i)]); });
}

std::int64_t Literal::integer(std::int64_t i) const {
  if (is_minifloat(dtype())) return static_cast<std::int64_t>(number(i));
  if (is_narrow_integer(dtype())) return is_signed(dtype()) ? std::int64_t{static_cast<std::int8_t>(data()[i])} : static_cast<std::int64_t>(data()[i]);
  return dispatch(dtype(), [&](auto t) -> std::int64_t {
    using T = decltype(t);
    T v = span<T>()[static_cast<std::size_t>(i)];
    if constexpr (std::is_integral_v<T>) return static_cast<std::int64_t>(v);
    else return static_cast<std::int64_t>(to_double(v));
  });
}

void Literal::set_number(std::int64_t i, double value) {
  if (is_minifloat(dtype())) {
    mutable_data()[i] = static_cast<std::byte>(minifloat_bits(dtype(), value));
    return;
  }
  if (is_narrow_integer(dtype())) return set_integer(i, static_cast<std::int64_t>(value));
  dispatch(dtype(), [&](auto t) {
    using T = decltype(t);
    mutable_span<T>()[static_cast<std::size_t>(i)] = from_double<T>(value);
  });
}

void Literal::set_integer(std::int64_t i, std::int64_t value) {
  if (is_minifloat(dtype())) return set_number(i, static_cast<double>(value));
  if (is_narrow_integer(dtype())) {
    mutable_data()[i] = static_cast<std::byte>(wrapped(dtype(), value));
    return;
  }
  dispatch(dtype(), [&](auto t) {
    using T = decltype(t);
    if constexpr (std::is_integral_v<T>) mutable_span<T>()[static_cast<std::size_t>(i)] = static_cast<T>(value);
    else mutable_span<T>()[static_cast<std::size_t>(i)] = from_double<T>(static_cast<double>(value));
  });
}

bool Literal::same_bits(const Literal& other) const {
  return type_ == other.type_ && std::memcmp(data(), other.data(), bytes()) == 0;
}

bool Literal::is_splat() const {
  std::size_t width = byte_width(dtype());
  if (count() == 0) return false;
  // Each element like the one before: what memcmp sees at once.
  return count() == 1 || std::memcmp(data(), data() + width, static_cast<std::size_t>(count() - 1) * width) == 0;
}

}  // namespace strata
