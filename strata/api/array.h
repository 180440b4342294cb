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
#include "strata/type/promote.h"

namespace strata {

class Array;
class Indices;
class Update;
namespace internal {
struct ArrayState;
using ScalarValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::complex<double>>;
}  // namespace internal

/// What converts to an array by itself: C++'s numbers and bool, and std::complex of float and
/// double.
template <class T>
concept Scalar = std::is_arithmetic_v<T> || std::same_as<T, std::complex<float>> ||
                 std::same_as<T, std::complex<double>>;

/// An n-dimensional array of one dtype; see above. Copying it copies a handle.
class Array {
 public:
  /// No value yet; using it is an error.
  Array() = default;
  /// A weakly typed scalar: i32, f32, c64 (their 64-bit kinds under x64), bool.
  template <Scalar T>
  Array(T value) : Array(scalar(to_value(value))) {}  // NOLINT: implicit by intent
  explicit Array(runtime::Buffer buffer);
  explicit Array(Literal literal) : Array(runtime::Buffer(std::move(literal))) {}

  /// Whether it is an array; one made by `Array()` is none yet.
  bool has_value() const { return state_ != nullptr; }
  /// Dtype and shape. Throws Error without a value, as all that follows does.
  const Type& type() const;
  const Shape& shape() const { return type().shape(); }
  /// Static size of one dimension; negative ones count from the end.
  std::int64_t shape(int i) const;
  /// The dtype of the elements.
  DType dtype() const { return type().dtype(); }
  /// The number of dimensions.
  int ndim() const { return type().rank(); }
  /// The number of elements. Throws Error in a program whose sizes are open.
  std::int64_t size() const { return shape().count(); }
  /// Whether it came of C++ scalars alone and takes on the dtype of what it meets.
  bool weak() const;
  /// Whether it stands for a value within a transform, where only its type is known.
  bool is_traced() const;

  /// The elements in row-major order, converted to T. Throws Error for a traced array.
  template <class T>
  std::vector<T> to_vector() const;
  /// The only element. Throws Error when there is not exactly one, or for a traced array.
  template <class T>
  T item() const;
  explicit operator bool() const;
  /// The memory of a concrete array; the second form gives the handle away and leaves no value.
  runtime::Buffer buffer() const&;
  runtime::Buffer buffer() &&;
  /// A view of the elements in memory. Throws Error for a traced array.
  Literal literal() const { return buffer().literal(); }
  /// Itself, once its values are there; Error for a traced array. Operations and compiled calls
  /// have run when they return here, so nothing is waited for: programs that are timed say it all
  /// the same, as they do with upstream, whose calls return before.
  const Array& block_until_ready() const;
  /// As NumPy prints it; a traced array prints its type.
  std::string to_string() const;

  // The methods NumPy's arrays have; each is the function of the same name.
  /// The elements converted to a dtype: of the same shape, strongly typed.
  Array astype(DType dtype, std::source_location where = std::source_location::current()) const;
  /// The same elements in row-major order under another shape, of which one size may be -1.
  /// Throws Error where the number of elements differs.
  Array reshape(const Sizes& sizes,
                std::source_location where = std::source_location::current()) const;
  /// All axes reversed, or permuted.
  Array transpose(const Sizes& axes = {},
                  std::source_location where = std::source_location::current()) const;
  /// All axes reversed.
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

/// The user's line, of functions that take no operand.
using Where = std::source_location;

/// An argument of a public function: an array or a C++ scalar, and where the user wrote it.
class Operand {
 public:
  Operand(const Array& x, std::source_location at = std::source_location::current())
      : array(x), where(at) {}  // NOLINT
  Operand(Array&& x, std::source_location at = std::source_location::current())
      : array(std::move(x)), where(at) {}  // NOLINT
  template <Scalar T>
  Operand(T value, std::source_location at = std::source_location::current())
      : array(value), where(at) {}                 // NOLINT
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
  /// Whether it is a number and no list.
  bool is_scalar() const { return is_scalar_; }
  /// The number; no value for a list.
  const Array& scalar() const { return scalar_; }
  /// The list; empty for a number.
  const std::vector<Nested>& list() const { return list_; }

 private:
  Array scalar_;
  bool is_scalar_ = false;
  std::vector<Nested> list_;
};

/// From nested braces of scalars: bool, int -> i32, float -> f32 (64-bit under x64) unless a dtype
/// is given.
Array array(const Nested& values, std::optional<DType> dtype = {});
/// From a vector, row-major; the dtype is T's (32-bit unless x64), the shape one-dimensional unless
/// given.
template <class T>
  requires has_dtype<T>
Array array(const std::vector<T>& values, std::optional<Sizes> shape = {},
            std::optional<DType> dtype = {});
/// A copy of a literal's contents as they are, 64-bit types included.
Array asarray(const Literal& literal);

namespace internal {
Array array_of(Literal literal, std::optional<Sizes> shape, std::optional<DType> dtype);
void check_one_element(const Array& x);
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
std::vector<T> Array::to_vector() const {
  const Literal l = literal();
  std::vector<T> out(static_cast<std::size_t>(l.count()));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = internal::element<T>(l, static_cast<std::int64_t>(i));
  return out;
}

template <class T>
T Array::item() const {
  internal::check_one_element(*this);
  return internal::element<T>(literal(), 0);
}

template <class T>
  requires has_dtype<T>
Array array(const std::vector<T>& values, std::optional<Sizes> shape, std::optional<DType> dtype) {
  Literal l(Type(dtype_of<T>, Shape{static_cast<std::int64_t>(values.size())}));
  for (std::size_t i = 0; i < values.size(); ++i) l.mutable_span<T>()[i] = values[i];
  return internal::array_of(std::move(l), std::move(shape), dtype);
}

}  // namespace strata
