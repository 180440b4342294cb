// strata::Array: what users hold.
//
//   Array x = array({{1, 2}, {3, 4}});          // i32[2,2]
//   Array y = x * 0.5f + ones({2});             // f32[2,2]; runs at once
//   y.to_vector<float>();                       // {1.5, 2, 2.5, 3}
//   std::cout << y;                             // as NumPy prints it
//
// A cheap immutable handle. Outside any transform it is a value on a device; inside one it is a
// traced value, of which only the type is known. C++ scalars convert to weakly typed arrays: next
// to another operand they take on its dtype (type/promote.h).
#pragma once

#include <complex>
#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "strata/api/options.h"
#include "strata/runtime/client.h"
#include "strata/tree/tree.h"
#include "strata/type/print.h"
#include "strata/type/promote.h"

namespace strata {

/// The user's line, of functions that take no operand.
using Where = std::source_location;

class Array;
class Indices;
class Update;
namespace internal {
struct ArrayState;
using ScalarValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::complex<double>>;
template <class T>
void refuse_assignment() {
  static_assert(std::is_void_v<T>,
                "x[i] is a new array, and assigning to it changes nothing: write "
                "x = x.at(i).set(y), or .add(y), ...");
}
}  // namespace internal

template <class T>
concept Scalar = std::is_arithmetic_v<T> || std::same_as<T, std::complex<float>> ||
                 std::same_as<T, std::complex<double>>;

class [[nodiscard("arrays do not change in place: what a function makes is its result")]] Array {
 public:
  /// No value yet; using it is an error.
  Array() = default;
  /// A weakly typed scalar: i32, f32, c64 (their 64-bit kinds under x64), bool.
  template <Scalar T>
  Array(T value) : Array(scalar(to_value(value))) {}  // NOLINT: implicit by intent
  Array(const Array&) = default;
  Array(Array&&) noexcept = default;
  Array& operator=(const Array&) & = default;
  Array& operator=(Array&&) & noexcept = default;
  /// Refuses `x[i] = y`: x[i] is a new array.
  template <class T>
  void operator=(const T&) && {
    internal::refuse_assignment<T>();
  }
  explicit Array(runtime::Buffer buffer);
  explicit Array(Literal literal) : Array(runtime::Buffer(std::move(literal))) {}

  bool has_value() const { return state_ != nullptr; }
  const Type& type() const;
  const Shape& shape() const { return type().shape(); }
  /// Static size of one dimension; negative ones count from the end.
  std::int64_t shape(int i) const;
  DType dtype() const { return type().dtype(); }
  int ndim() const { return type().rank(); }
  std::int64_t size() const { return shape().count(); }
  bool weak() const;
  bool is_traced() const;

  /// The elements in row-major order, converted to T. Throws Error for a traced array.
  template <class T>
  std::vector<T> to_vector(Where where = Where::current()) const;
  /// The only element. Throws Error when there is not exactly one, or for a traced array.
  template <class T>
  T item(Where where = Where::current()) const;
  explicit operator bool() const;
  /// The memory of a concrete array; the second form gives the handle away and leaves no value.
  runtime::Buffer buffer() const&;
  runtime::Buffer buffer() &&;
  Literal literal() const { return buffer().literal(); }
  /// Itself, once its values are there; Error for a traced array. Operations and compiled calls
  /// have run when they return here, so nothing is waited for: programs that are timed say it all
  /// the same, as they do with upstream, whose calls return before.
  const Array& block_until_ready() const;
  /// As NumPy prints it; a traced array prints its type.
  std::string to_string() const;

  // The methods NumPy's arrays have; each is the function of the same name.
  Array astype(DType dtype, std::source_location where = std::source_location::current()) const;
  Array reshape(const Sizes& sizes,
                std::source_location where = std::source_location::current()) const;
  /// All axes reversed, or permuted.
  Array transpose(const Sizes& axes = {},
                  std::source_location where = std::source_location::current()) const;
  Array T(std::source_location where = std::source_location::current()) const {
    return transpose({}, where);
  }
  /// NumPy's basic indexing, and integer arrays (api/index.h).
  Array operator[](const Indices& indices) const;
  /// `x.at({0, slice(1)}).set(y)`, `.add(y)`, ...: a copy with some elements changed.
  Update at(const Indices& indices) const;

  /// What the handle points at (api/trace.h).
  const std::shared_ptr<const internal::ArrayState>& state() const { return state_; }
  explicit Array(std::shared_ptr<const internal::ArrayState> state) : state_(std::move(state)) {}
  /// A scalar of a given dtype; C++ scalars that appear within a trace are constants there.
  static Array scalar(internal::ScalarValue value);
  static Array scalar(internal::ScalarValue value, DType dtype, bool weak);

 private:
  template <class T>
  static internal::ScalarValue to_value(T value) {
    if constexpr (std::same_as<T, bool>)
      return value;
    else if constexpr (std::unsigned_integral<T> && sizeof(T) == 8)
      return static_cast<std::uint64_t>(value);
    else if constexpr (std::integral<T>)
      return static_cast<std::int64_t>(value);
    else if constexpr (std::floating_point<T>)
      return static_cast<double>(value);
    else
      return std::complex<double>(value);
  }
  const internal::ArrayState& checked() const;
  const internal::ArrayState& concrete() const;  // Error for a traced one
  std::shared_ptr<const internal::ArrayState> state_;
};

template <>
inline constexpr bool tree::is_leaf<Array> = true;

std::ostream& operator<<(std::ostream& out, const Array& x);
/// "(2, 3)", as Python writes shapes.
std::ostream& operator<<(std::ostream& out, const Shape& shape);

/// An argument of a public function: an array or a C++ scalar, and where the user wrote it.
class Operand {
 public:
  Operand(const Array& array, std::source_location where = std::source_location::current())
      : array(array), where(where) {}  // NOLINT
  Operand(Array&& array, std::source_location where = std::source_location::current())
      : array(std::move(array)), where(where) {}  // NOLINT
  template <Scalar T>
  Operand(T value, std::source_location where = std::source_location::current())
      : array(value), where(where) {}              // NOLINT
  operator const Array&() const { return array; }  // NOLINT
  const Array* operator->() const { return &array; }
  Array array;
  std::source_location where;
};

/// Numbers in nested braces: `{1, 2}`, `{{1.5, 2}, {3, 4}}`.
class Nested {
 public:
  template <Scalar T>
  Nested(T value) : scalar_(value), is_scalar_(true) {}  // NOLINT
  Nested(std::initializer_list<Nested> list) : list_(list) {}
  bool is_scalar() const { return is_scalar_; }
  const Array& scalar() const { return scalar_; }
  const std::vector<Nested>& list() const { return list_; }

 private:
  Array scalar_;
  bool is_scalar_ = false;
  std::vector<Nested> list_;
};

/// From nested braces of scalars: bool, int -> i32, float -> f32 (64-bit under x64) unless a dtype
/// is given.
Array array(const Nested& values, std::optional<DType> dtype = {}, Where where = Where::current());
/// From a vector, row-major; the dtype is T's (32-bit unless x64), the shape one-dimensional unless
/// given.
template <class T>
  requires has_dtype<T>
Array array(const std::vector<T>& values, std::optional<Sizes> shape = {},
            std::optional<DType> dtype = {}, Where where = Where::current());
/// A copy of a literal's contents as they are, 64-bit types included.
Array asarray(const Literal& literal);

namespace internal {
Array array_of(Literal literal, std::optional<Sizes> shape, std::optional<DType> dtype,
               const Where& where);
/// The elements. Throws Error, with the user's line, for a traced array.
Literal elements_of(const Array& x, const Where& where);
/// The same of an array that must have one.
Literal only_element(const Array& x, const Where& where);
/// A C++ number as T; complex gives its real part where T is real.
template <class T, class S>
T element_from(S v) {
  constexpr bool from_complex =
      std::same_as<S, std::complex<float>> || std::same_as<S, std::complex<double>>;
  constexpr bool to_complex =
      std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;
  if constexpr (from_complex && to_complex)
    return T(v);
  else if constexpr (from_complex)
    return element_from<T>(v.real());
  else if constexpr (to_complex)
    return T(static_cast<typename T::value_type>(v));
  else if constexpr (std::same_as<T, BFloat16> || std::same_as<T, Float16>)
    return T(static_cast<float>(v));
  else
    return static_cast<T>(v);
}
template <class T>
T element(const Literal& l, std::int64_t i) {
  return dispatch(l.dtype(), [&](auto t) -> T {
    using S = decltype(t);
    S v = l.span<S>()[static_cast<std::size_t>(i)];
    constexpr bool narrow = std::same_as<S, BFloat16> || std::same_as<S, Float16>;
    if constexpr (std::same_as<S, T>)
      return v;
    else if constexpr (narrow)
      return element_from<T>(static_cast<float>(v));
    else
      return element_from<T>(v);
  });
}
}  // namespace internal

template <class T>
std::vector<T> Array::to_vector(Where where) const {
  const Literal l = internal::elements_of(*this, where);
  std::vector<T> out(static_cast<std::size_t>(l.count()));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = internal::element<T>(l, static_cast<std::int64_t>(i));
  return out;
}

template <class T>
T Array::item(Where where) const {
  return internal::element<T>(internal::only_element(*this, where), 0);
}

template <class T>
  requires has_dtype<T>
Array array(const std::vector<T>& values, std::optional<Sizes> shape, std::optional<DType> dtype,
            Where where) {
  Literal l(Type(dtype_of<T>, Shape{static_cast<std::int64_t>(values.size())}));
  for (std::size_t i = 0; i < values.size(); ++i) l.mutable_span<T>()[i] = values[i];
  return internal::array_of(std::move(l), std::move(shape), dtype, where);
}

}  // namespace strata
