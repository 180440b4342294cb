// Small types that accept braces, so that calls read as in NumPy:
//
//   zeros({2, 3})   reshape(x, {4, -1})   sum(x, 1)   sum(x, {0, 1})   sum(x, {.axis = -1,
//   .keepdims = true})
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <utility>
#include <vector>

#include "strata/type/type.h"

namespace strata {

/// A list of sizes: `3`, `{2, 3}`, a vector, or a static Shape. -1 where a function can work the
/// size out.
class Sizes {
 public:
  Sizes() = default;
  template <std::integral T>
  Sizes(T size) : sizes_{static_cast<std::int64_t>(size)} {}  // NOLINT: implicit by intent
  Sizes(std::initializer_list<std::int64_t> sizes) : sizes_(sizes) {}
  Sizes(std::vector<std::int64_t> sizes) : sizes_(std::move(sizes)) {}  // NOLINT
  Sizes(const Shape& shape) : sizes_(shape.sizes()) {}                  // NOLINT
  operator const std::vector<std::int64_t>&() const { return sizes_; }  // NOLINT
  /// The sizes.
  const std::vector<std::int64_t>& get() const { return sizes_; }
  /// How many there are.
  std::size_t size() const { return sizes_.size(); }
  std::int64_t operator[](std::size_t i) const { return sizes_[i]; }
  /// The first of the sizes, for loops over them.
  auto begin() const { return sizes_.begin(); }
  /// Behind the last of the sizes.
  auto end() const { return sizes_.end(); }

 private:
  std::vector<std::int64_t> sizes_;
};

/// Axes: all of them when left out, else one or several; negative ones count from the end.
class Axes {
 public:
  Axes() = default;
  template <std::integral T>
  Axes(T axis) : axes_(std::vector<std::int64_t>{static_cast<std::int64_t>(axis)}) {}  // NOLINT
  Axes(std::initializer_list<std::int64_t> axes) : axes_(axes) {}
  Axes(std::vector<std::int64_t> axes) : axes_(std::move(axes)) {}  // NOLINT
  /// Whether none were given, which means all.
  bool all() const { return !axes_.has_value(); }
  /// How many are given; not for `all()`.
  std::size_t count() const { return axes_->size(); }
  /// As they were given; not for `all()`.
  const std::vector<std::int64_t>& given() const { return *axes_; }
  /// The axes as non-negative numbers in increasing order. Throws Error out of range or twice the
  /// same.
  std::vector<std::int64_t> resolve(int rank) const;

 private:
  std::optional<std::vector<std::int64_t>> axes_;
};

/// The first of several sizes or axes, and where the user wrote it: `x.reshape(2, 3)`.
class Size {
 public:
  template <std::integral T>
  Size(T size, std::source_location place = std::source_location::current())
      : value(static_cast<std::int64_t>(size)), where(place) {}  // NOLINT: implicit by intent
  std::int64_t value;
  std::source_location where;
};

/// A shape that may be left out: `{}` is none; a number, braces, a vector or a Shape are given.
/// `Sizes()` is given, too: the shape of a scalar.
class OptionalSizes : public std::optional<Sizes> {
 public:
  OptionalSizes() = default;
  OptionalSizes(std::nullopt_t) {}  // NOLINT: implicit by intent
  template <std::convertible_to<Sizes> T>
  OptionalSizes(T&& sizes) : std::optional<Sizes>(Sizes(std::forward<T>(sizes))) {}  // NOLINT
  OptionalSizes(std::initializer_list<std::int64_t> sizes) : std::optional<Sizes>(sizes) {}
  OptionalSizes(std::optional<Sizes> sizes) : std::optional<Sizes>(std::move(sizes)) {}  // NOLINT
};

/// Several values, or one without braces: `.donate_argnums = 0`, `= {0, 2}`, or a vector.
template <class T>
class OneOrMore : public std::vector<T> {
 public:
  OneOrMore() = default;
  template <std::convertible_to<T> U>
  OneOrMore(U value) : std::vector<T>{static_cast<T>(value)}, is_one_(true) {}  // NOLINT: by intent
  OneOrMore(std::initializer_list<T> values) : std::vector<T>(values) {}
  OneOrMore(std::vector<T> values) : std::vector<T>(std::move(values)) {}  // NOLINT
  /// Whether it was given without braces, which upstream tells from a tuple of one.
  bool is_one() const { return is_one_; }

 private:
  bool is_one_ = false;
};

namespace internal {
/// First member of option structs: makes `{0, 1}` no option struct, so that it can only mean a
/// list.
struct Named {
  explicit Named() = default;
};
}  // namespace internal

/// What stands for axes where a function takes those alone: `1`, a vector.
template <class T>
concept AxesLike = std::convertible_to<T, Axes>;

/// "file.cc:12" of a place in the user's program.
std::string describe(const std::source_location& where);

/// Dtypes under NumPy's names.
inline constexpr DType float64 = DType::f64, float32 = DType::f32, bfloat16 = DType::bf16,
                       float16 = DType::f16;
/// Signed integers under NumPy's names.
inline constexpr DType int64 = DType::i64, int32 = DType::i32, int16 = DType::i16, int8 = DType::i8;
/// Unsigned integers under NumPy's names.
inline constexpr DType uint64 = DType::ui64, uint32 = DType::ui32, uint16 = DType::ui16,
                       uint8 = DType::ui8;
/// Booleans and complex numbers under NumPy's names.
inline constexpr DType bool_ = DType::i1, complex64 = DType::c64, complex128 = DType::c128;

/// What functions make where no dtype is given, Python's float and int: 64-bit types, which are f32
/// and i32 unless x64 is on.
inline constexpr DType default_float = DType::f64, default_int = DType::i64;

/// Whether 64-bit types exist on this thread; off, they become 32-bit ones when arrays are made.
bool x64_enabled();
/// Switches it for a scope: `EnableX64 wide;` or `EnableX64 narrow(false);`.
class EnableX64 {
 public:
  explicit EnableX64(bool on = true);
  ~EnableX64();
  EnableX64(const EnableX64&) = delete;
  EnableX64& operator=(const EnableX64&) = delete;

 private:
  bool before_;
};

}  // namespace strata
