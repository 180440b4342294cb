// A tensor in host memory: constants, arguments and results of the reference evaluator.
#pragma once

#include <complex>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "strata/type/float.h"
#include "strata/type/type.h"

namespace strata {

/// The DType that stores a C++ type: `dtype_of<float> == DType::f32`.
template <class T>
inline constexpr bool has_dtype = false;
/// The dtype of a C++ type: f32 of float, i32 of std::int32_t, c64 of std::complex<float>.
template <class T>
inline constexpr DType dtype_of = DType::f32;
#define STRATA_DTYPE_OF(T, D)                \
  template <>                                \
  inline constexpr bool has_dtype<T> = true; \
  template <>                                \
  inline constexpr DType dtype_of<T> = DType::D;
STRATA_DTYPE_OF(bool, i1)
STRATA_DTYPE_OF(std::int8_t, i8)
STRATA_DTYPE_OF(std::int16_t, i16)
STRATA_DTYPE_OF(std::int32_t, i32)
STRATA_DTYPE_OF(std::int64_t, i64)
STRATA_DTYPE_OF(std::uint8_t, ui8)
STRATA_DTYPE_OF(std::uint16_t, ui16)
STRATA_DTYPE_OF(std::uint32_t, ui32)
STRATA_DTYPE_OF(std::uint64_t, ui64)
STRATA_DTYPE_OF(BFloat16, bf16)
STRATA_DTYPE_OF(Float16, f16)
STRATA_DTYPE_OF(float, f32)
STRATA_DTYPE_OF(double, f64)
STRATA_DTYPE_OF(std::complex<float>, c64)
STRATA_DTYPE_OF(std::complex<double>, c128)
#undef STRATA_DTYPE_OF

/// Calls `f(T{})` with the C++ type that stores `dtype`; throws InternalError for a type
/// without one (sub-byte, f8).
template <class F>
decltype(auto) dispatch(DType dtype, F&& f) {
  switch (dtype) {
    case DType::i1: return f(bool{});
    case DType::i8: return f(std::int8_t{});
    case DType::i16: return f(std::int16_t{});
    case DType::i32: return f(std::int32_t{});
    case DType::i64: return f(std::int64_t{});
    case DType::ui8: return f(std::uint8_t{});
    case DType::ui16: return f(std::uint16_t{});
    case DType::ui32: return f(std::uint32_t{});
    case DType::ui64: return f(std::uint64_t{});
    case DType::bf16: return f(BFloat16{});
    case DType::f16: return f(Float16{});
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    case DType::c64: return f(std::complex<float>{});
    case DType::c128: return f(std::complex<double>{});
    default: STRATA_UNREACHABLE("no storage type for {}", name(dtype));
  }
}
/// Whether `dispatch` knows the type.
bool has_storage(DType dtype);

/// A dense row-major tensor in host memory. Copies share the bytes; `mutable_data` is for whoever
/// made it, before it is shared. A large splat (every element equal) that is made as one keeps one
/// element and writes the others out when somebody asks for all bytes: programs are full of
/// constants that nothing ever reads as a tensor.
class Literal {
 public:
  Literal();
  Literal(const Literal&);
  Literal(Literal&&) noexcept;
  Literal& operator=(const Literal&);
  Literal& operator=(Literal&&) noexcept;
  ~Literal();
  /// Zero-filled.
  explicit Literal(Type type);
  Literal(Type type, std::shared_ptr<std::byte[]> bytes)
      : type_(std::move(type)), bytes_(std::move(bytes)) {}
  /// A literal of rank 0.
  template <class T>
  static Literal scalar(T value) {
    Literal out(Type::scalar(dtype_of<T>));
    std::memcpy(out.mutable_data(), &value, sizeof(T));
    return out;
  }
  /// `type` filled with `value` rounded to its dtype.
  static Literal full(Type type, double value);
  /// Every element has the bytes at `element`.
  static Literal splat(Type type, const std::byte* element);
  /// A literal from values in row-major order, as many as the shape has.
  template <class T>
  static Literal of(Shape shape, const std::vector<T>& values) {
    Literal out(Type(dtype_of<T>, std::move(shape)));
    STRATA_CHECK(out.count() == static_cast<std::int64_t>(values.size()), "{} values for {}",
                 values.size(), out.type().to_string());
    for (std::size_t i = 0; i < values.size(); ++i) {
      T v = values[i];
      std::memcpy(out.mutable_data() + i * sizeof(T), &v, sizeof(T));
    }
    return out;
  }

  /// Dtype and shape.
  const Type& type() const { return type_; }
  /// The dtype of the elements.
  DType dtype() const { return type_.dtype(); }
  /// The shape.
  const Shape& shape() const { return type_.shape(); }
  /// The number of elements.
  std::int64_t count() const { return type_.shape().count(); }
  /// The memory in bytes.
  std::size_t bytes() const { return type_.bytes(); }
  /// The first byte, row-major.
  const std::byte* data() const { return storage().get(); }
  /// The first byte, to be written.
  std::byte* mutable_data();
  /// The memory, which copies of a literal share.
  const std::shared_ptr<std::byte[]>& storage() const { return splat_ ? written_out() : bytes_; }
  /// Whether no other tensor has these bytes.
  bool is_unique() const;
  /// The bytes of element i (row-major), without writing out a splat.
  const std::byte* element(std::int64_t i) const;
  /// The elements as T, which must be the dtype's C++ type.
  template <class T>
  std::span<const T> span() const {
    STRATA_CHECK(dtype_of<T> == dtype(), "literal holds {}", name(dtype()));
    return {reinterpret_cast<const T*>(data()), static_cast<std::size_t>(count())};
  }
  /// The elements, to be written.
  template <class T>
  std::span<T> mutable_span() {
    STRATA_CHECK(dtype_of<T> == dtype(), "literal holds {}", name(dtype()));
    return {reinterpret_cast<T*>(mutable_data()), static_cast<std::size_t>(count())};
  }
  /// Element i (row-major) as a double / integer; complex gives the real part.
  double number(std::int64_t i) const;
  /// Element i of a literal of integers or booleans.
  std::int64_t integer(std::int64_t i) const;
  /// Sets element i, rounding to the dtype.
  void set_number(std::int64_t i, double value);
  /// Writes element i of a literal of integers or booleans.
  void set_integer(std::int64_t i, std::int64_t value);
  /// Same type and same bytes.
  bool same_bits(const Literal& other) const;
  /// Whether all elements have the same bytes (true for one element, false for none).
  bool is_splat() const;

 private:
  struct Splat;
  const std::shared_ptr<std::byte[]>& written_out() const;

  Type type_;
  std::shared_ptr<std::byte[]> bytes_;
  std::shared_ptr<Splat> splat_;
};

}  // namespace strata
