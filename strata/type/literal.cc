#include "strata/type/literal.h"

#include <sys/mman.h>

#include <array>
#include <mutex>

#include "strata/base/memory/out_of_memory.h"
#include "strata/type/borrowed.h"
#include "strata/type/literals_in_files.h"
#include "strata/type/minifloat.h"
#include "strata/type/round_to_odd.h"

namespace strata {
namespace {

/// 64-byte aligned. Large ones ask for huge pages: kernels stream through them, and small pages
/// cost them a walk of the page table every 4 KiB.
std::shared_ptr<std::byte[]> allocate(std::size_t bytes) {
  constexpr std::size_t kHuge = std::size_t{2} << 20;
  std::size_t align = bytes >= kHuge ? kHuge : 64, size = (bytes + align - 1) / align * align;
  if (size == 0) size = align;
  void* p = std::aligned_alloc(align, size);
  if (p == nullptr) throw OutOfMemory(size);
  if (align == kHuge) madvise(p, size, MADV_HUGEPAGE);
  return {static_cast<std::byte*>(p), [](std::byte* q) { std::free(q); }};
}

/// The deleter of borrowed bytes, by which they are known.
struct GiveBack {
  std::function<void()> release;
  void operator()(std::byte*) const {
    if (release) release();
  }
};

/// The first `width` of `total` bytes into all others, doubling what is copied.
void spread(std::byte* to, std::size_t width, std::size_t total) {
  for (std::size_t done = width; done < total; done *= 2)
    std::memcpy(to + done, to, std::min(done, total - done));
}

template <class T>
constexpr bool is_complex_v = false;
template <class T>
constexpr bool is_complex_v<std::complex<T>> = true;
template <class T>
constexpr bool is_small_float_v = std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;

template <class T>
double to_double(T v) {
  if constexpr (is_complex_v<T>)
    return static_cast<double>(v.real());
  else if constexpr (is_small_float_v<T>)
    return static_cast<double>(static_cast<float>(v));
  else
    return static_cast<double>(v);
}
template <class T>
T from_double(double v) {
  if constexpr (is_complex_v<T>)
    return T(static_cast<typename T::value_type>(v));
  else if constexpr (is_small_float_v<T>)
    return T(rounded_to_odd(v));
  else
    return static_cast<T>(v);
}
template <class T>
T from_integer(std::int64_t v) {
  if constexpr (is_complex_v<T>)
    return T(static_cast<typename T::value_type>(v));
  else if constexpr (is_small_float_v<T>)
    return T(static_cast<float>(v));
  else
    return static_cast<T>(v);
}

/// i2, i4, ui2, ui4: a byte each, extended by the sign or by zeros.
bool is_narrow_integer(DType dtype) { return is_integer(dtype) && bit_width(dtype) < 8; }
std::int8_t wrapped(DType dtype, std::int64_t value) {
  int spare = 8 - bit_width(dtype);
  auto high = static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) << spare);
  return is_signed(dtype) ? static_cast<std::int8_t>(static_cast<std::int8_t>(high) >> spare)
                          : static_cast<std::int8_t>(high >> spare);
}

}  // namespace

std::shared_ptr<std::byte[]> borrowed_bytes(const std::byte* data, std::function<void()> release) {
  return {const_cast<std::byte*>(data), GiveBack{std::move(release)}};
}

bool has_storage(DType d) {
  switch (d) {
    case DType::i1:
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
    case DType::ui8:
    case DType::ui16:
    case DType::ui32:
    case DType::ui64:
    case DType::bf16:
    case DType::f16:
    case DType::f32:
    case DType::f64:
    case DType::c64:
    case DType::c128: return true;
    default: return false;
  }
}

Literal::Literal() = default;
Literal::Literal(const Literal&) = default;
Literal::Literal(Literal&&) noexcept = default;
Literal& Literal::operator=(const Literal&) = default;
Literal& Literal::operator=(Literal&&) noexcept = default;
Literal::~Literal() = default;

Literal::Literal(Type type)
    : type_(std::move(type)), bytes_(internal::bytes_in_file(type_.bytes())) {
  if (bytes_) return;
  bytes_ = allocate(type_.bytes());
  std::memset(bytes_.get(), 0, type_.bytes());
}

/// One element of many, and all of them once they were asked for.
struct Literal::Splat {
  std::array<std::byte, 16> element;
  std::once_flag once;
  std::shared_ptr<std::byte[]> bytes;
};

Literal Literal::splat(Type type, const std::byte* element) {
  constexpr std::size_t kLarge = 4096;  // bytes; fewer are sooner written than kept track of
  const std::size_t width = byte_width(type.dtype()), total = type.bytes();
  Literal out;
  if (total <= kLarge) {
    out = Literal(std::move(type));
    if (total > 0)
      std::memcpy(out.mutable_data(), element, width), spread(out.mutable_data(), width, total);
    return out;
  }
  out.type_ = std::move(type);
  out.splat_ = std::make_shared<Splat>();
  std::memcpy(out.splat_->element.data(), element, width);
  return out;
}

Literal Literal::full(Type type, double value) {
  Literal one(type.with(Shape{}));
  one.set_number(0, value);
  return splat(std::move(type), one.data());
}

const std::shared_ptr<std::byte[]>& Literal::written_out() const {
  std::call_once(splat_->once, [this] {
    std::shared_ptr<std::byte[]> all = allocate(bytes());
    std::memcpy(all.get(), splat_->element.data(), byte_width(dtype()));
    spread(all.get(), byte_width(dtype()), bytes());
    splat_->bytes = std::move(all);
  });
  return splat_->bytes;
}

std::byte* Literal::mutable_data() {
  if (splat_) bytes_ = written_out(), splat_.reset();
  return bytes_.get();
}

bool Literal::is_unique() const {
  return (!splat_ || splat_.use_count() == 1) && storage().use_count() == 1 &&
         std::get_deleter<GiveBack>(storage()) == nullptr;
}

const std::byte* Literal::element(std::int64_t i) const {
  return splat_ ? splat_->element.data()
                : bytes_.get() + static_cast<std::size_t>(i) * byte_width(dtype());
}

double Literal::number(std::int64_t i) const {
  if (is_minifloat(dtype()))
    return minifloat_value(dtype(), static_cast<std::uint8_t>(*element(i)));
  if (is_narrow_integer(dtype())) return static_cast<double>(integer(i));
  return dispatch(dtype(), [&](auto t) {
    std::memcpy(&t, element(i), sizeof t);
    return to_double(t);
  });
}

std::int64_t Literal::integer(std::int64_t i) const {
  if (is_minifloat(dtype())) return static_cast<std::int64_t>(number(i));
  if (is_narrow_integer(dtype()))
    return is_signed(dtype()) ? std::int64_t{static_cast<std::int8_t>(*element(i))}
                              : static_cast<std::int64_t>(*element(i));
  return dispatch(dtype(), [&](auto v) -> std::int64_t {
    using T = decltype(v);
    std::memcpy(&v, element(i), sizeof v);
    if constexpr (std::is_integral_v<T>)
      return static_cast<std::int64_t>(v);
    else
      return static_cast<std::int64_t>(to_double(v));
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
  if (is_minifloat(dtype())) return set_number(i, static_cast<float>(value));
  if (is_narrow_integer(dtype())) {
    mutable_data()[i] = static_cast<std::byte>(wrapped(dtype(), value));
    return;
  }
  dispatch(dtype(), [&](auto t) {
    using T = decltype(t);
    mutable_span<T>()[static_cast<std::size_t>(i)] = from_integer<T>(value);
  });
}

bool Literal::same_bits(const Literal& other) const {
  if (type_ != other.type_) return false;
  if (splat_ && other.splat_)
    return std::memcmp(element(0), other.element(0), byte_width(dtype())) == 0;
  return std::memcmp(data(), other.data(), bytes()) == 0;
}

bool Literal::is_splat() const {
  std::size_t width = byte_width(dtype());
  if (splat_) return true;
  if (count() == 0) return false;
  // Each element like the one before: what memcmp sees at once.
  return count() == 1 ||
         std::memcmp(data(), data() + width, static_cast<std::size_t>(count() - 1) * width) == 0;
}

}  // namespace strata
