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

#include <algorithm>
#include <complex>
#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <utility>
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
class Device;
class Indices;
class Update;
struct Reduce;
struct Variance;
namespace numpy {
struct Position;
struct Cumulative;
struct Sort;
}  // namespace numpy
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

/// The user's line, of functions that take no operand.
using Where = std::source_location;

/// What converts to an array by itself: C++'s numbers and bool, and std::complex of float and
/// double.
template <class T>
concept Scalar = std::is_arithmetic_v<T> || std::same_as<T, std::complex<float>> ||
                 std::same_as<T, std::complex<double>>;

/// An n-dimensional array of one dtype; see above. Copying it copies a handle.
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
  std::vector<T> to_vector(Where where = Where::current()) const;
  /// The only element. Throws Error when there is not exactly one, or for a traced array.
  template <class T>
  T item(Where where = Where::current()) const;
  explicit operator bool() const;
  /// The only element: `float(x)`, `static_cast<int>(x)`. Throws as `item`.
  template <Scalar T>
    requires(!std::same_as<T, bool>)
  explicit operator T() const {
    return item<T>();
  }
  /// The memory of a concrete array; the second form gives the handle away and leaves no value.
  runtime::Buffer buffer() const&;
  runtime::Buffer buffer() &&;
  /// A view of the elements in memory. Throws Error for a traced array.
  Literal literal() const { return buffer().literal(); }
  /// Itself, once its values are there; Error for a traced array, and for what failed in the
  /// program that computes it. Without devices that were asked for (api/sharding/devices.h)
  /// operations and compiled calls have run when they return, and nothing is waited for.
  const Array& block_until_ready() const;
  /// The device that holds it. Throws Error for a traced array.
  std::vector<Device> devices() const;
  /// Lets go of its memory now, whoever else has a handle: using it is an error from here on.
  void delete_() const;
  /// Whether it was deleted.
  bool is_deleted() const;
  /// As NumPy prints it; a traced array prints its type.
  std::string to_string() const;

  // The methods of NumPy's arrays, each the function of the same name, which says more: results,
  // dtypes and errors are its. Reductions take axes or options: `x.sum()`, `x.sum(1)`,
  // `x.sum({0, 1})`, `x.sum({.axis = -1, .keepdims = true})`.

  Array sum(Where where = Where::current()) const;
  Array sum(const Reduce& options, Where where = Where::current()) const;
  Array prod(Where where = Where::current()) const;
  Array prod(const Reduce& options, Where where = Where::current()) const;
  Array mean(Where where = Where::current()) const;
  Array mean(const Reduce& options, Where where = Where::current()) const;
  Array max(Where where = Where::current()) const;
  Array max(const Reduce& options, Where where = Where::current()) const;
  Array min(Where where = Where::current()) const;
  Array min(const Reduce& options, Where where = Where::current()) const;
  Array any(Where where = Where::current()) const;
  Array any(const Reduce& options, Where where = Where::current()) const;
  Array all(Where where = Where::current()) const;
  Array all(const Reduce& options, Where where = Where::current()) const;
  Array var(Where where = Where::current()) const;
  Array var(const Variance& options, Where where = Where::current()) const;
  /// numpy::std_: a method may have the name that a function may not.
  Array std(Where where = Where::current()) const;
  Array std(const Variance& options, Where where = Where::current()) const;
#define STRATA_METHOD_BY_AXES(name)                                \
  template <AxesLike A>                                            \
  Array name(const A& axis, Where where = Where::current()) const; \
  template <std::integral I>                                       \
  Array name(std::initializer_list<I> axes, Where where = Where::current()) const;
  STRATA_METHOD_BY_AXES(sum)
  STRATA_METHOD_BY_AXES(prod)
  STRATA_METHOD_BY_AXES(mean)
  STRATA_METHOD_BY_AXES(max)
  STRATA_METHOD_BY_AXES(min)
  STRATA_METHOD_BY_AXES(any)
  STRATA_METHOD_BY_AXES(all)
  STRATA_METHOD_BY_AXES(var)
  STRATA_METHOD_BY_AXES(std)
#undef STRATA_METHOD_BY_AXES
  Array argmax(Where where = Where::current()) const;
  Array argmax(std::int64_t axis, Where where = Where::current()) const;
  Array argmax(const numpy::Position& options, Where where = Where::current()) const;
  Array argmin(Where where = Where::current()) const;
  Array argmin(std::int64_t axis, Where where = Where::current()) const;
  Array argmin(const numpy::Position& options, Where where = Where::current()) const;
  /// Of the flattened array without an axis.
  Array cumsum(Where where = Where::current()) const;
  Array cumsum(std::int64_t axis, Where where = Where::current()) const;
  Array cumsum(const numpy::Cumulative& options, Where where = Where::current()) const;
  Array cumprod(Where where = Where::current()) const;
  Array cumprod(std::int64_t axis, Where where = Where::current()) const;
  Array cumprod(const numpy::Cumulative& options, Where where = Where::current()) const;

  /// A sorted copy (NumPy's own sorts in place; jax.Array's does not); of the last axis unless
  /// given.
  Array sort(Where where = Where::current()) const;
  Array sort(std::int64_t axis, Where where = Where::current()) const;
  Array sort(const numpy::Sort& options, Where where = Where::current()) const;
  Array argsort(Where where = Where::current()) const;
  Array argsort(std::int64_t axis, Where where = Where::current()) const;
  Array argsort(const numpy::Sort& options, Where where = Where::current()) const;
  Array argpartition(std::int64_t kth, std::int64_t axis = -1,
                     Where where = Where::current()) const;
  Array searchsorted(const Array& v, const std::string& side = "left",
                     Where where = Where::current()) const;

  Array astype(DType dtype, Where where = Where::current()) const;
  /// The same bytes as elements of another type. Of another width the last axis gets shorter or
  /// longer: Error where its elements do not fill whole ones.
  Array view(DType dtype, Where where = Where::current()) const;
  Array copy(Where where = Where::current()) const;
  Array reshape(const Sizes& sizes, Where where = Where::current()) const;
  /// `x.reshape(2, -1)`: the same without braces.
  template <std::integral... More>
    requires(sizeof...(More) > 0)
  Array reshape(Size first, More... more) const {
    return reshape(Sizes{first.value, static_cast<std::int64_t>(more)...}, first.where);
  }
  Array ravel(Where where = Where::current()) const;
  Array flatten(Where where = Where::current()) const { return ravel(where); }
  /// All axes reversed, or permuted: `x.transpose({1, 0, 2})`, `x.transpose(1, 0, 2)`.
  Array transpose(const Sizes& axes = {}, Where where = Where::current()) const;
  template <std::integral... More>
    requires(sizeof...(More) > 0)
  Array transpose(Size first, More... more) const {
    return transpose(Sizes{first.value, static_cast<std::int64_t>(more)...}, first.where);
  }
  Array T(Where where = Where::current()) const { return transpose({}, where); }
  /// The last two axes exchanged.
  Array mT(Where where = Where::current()) const;
  Array swapaxes(std::int64_t axis1, std::int64_t axis2, Where where = Where::current()) const;
  Array squeeze(const Axes& axis = {}, Where where = Where::current()) const;
  Array repeat(std::int64_t times, std::optional<std::int64_t> axis = {},
               Where where = Where::current()) const;
  Array diagonal(std::int64_t offset = 0, std::int64_t axis1 = 0, std::int64_t axis2 = 1,
                 Where where = Where::current()) const;
  Array trace(std::int64_t offset = 0, std::int64_t axis1 = 0, std::int64_t axis2 = 1,
              Where where = Where::current()) const;

  Array dot(const Array& y, Where where = Where::current()) const;
  /// Bounds may be `none`.
  Array clip(const std::optional<Array>& low, const std::optional<Array>& high = {},
             Where where = Where::current()) const;
  Array round(std::int64_t decimals = 0, Where where = Where::current()) const;
  Array conj(Where where = Where::current()) const;
  Array conjugate(Where where = Where::current()) const { return conj(where); }
  Array real(Where where = Where::current()) const;
  Array imag(Where where = Where::current()) const;
  Array take(const Array& indices, std::optional<std::int64_t> axis = {},
             Where where = Where::current()) const;
  Array choose(const std::vector<Array>& choices, const std::string& mode = "raise",
               Where where = Where::current()) const;
  Array compress(const Array& condition, std::optional<std::int64_t> axis = {},
                 Where where = Where::current()) const;
  std::vector<Array> nonzero(Where where = Where::current()) const;

  /// Bytes of one element, and of all.
  std::size_t itemsize() const { return byte_width(dtype()); }
  std::size_t nbytes() const { return static_cast<std::size_t>(size()) * itemsize(); }

  /// The rows x[0], x[1], ...: `for (Array row : x)`. Throws Error for a scalar. In a trace the
  /// loop is written out row by row: scan (api/transform/control.h) records one body.
  class Rows;
  Rows begin(Where where = Where::current()) const;
  Rows end(Where where = Where::current()) const;

  /// NumPy's basic indexing, and integer arrays (api/index.h).
  Array operator[](const Indices& indices) const;
  /// `x.at({0, slice(1)}).set(y)`, `.add(y)`, ...: a copy with some elements changed.
  Update at(const Indices& indices) const;

  /// What the handle points at (api/trace/trace.h).
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

/// Goes from row to row of an array.
class Array::Rows {
 public:
  using value_type = Array;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::forward_iterator_tag;
  Rows() = default;
  Rows(Array array, std::int64_t at, Where where)
      : array_(std::move(array)), at_(at), where_(where) {}
  Array operator*() const;
  Rows& operator++() {
    ++at_;
    return *this;
  }
  Rows operator++(int) {
    Rows before = *this;
    ++at_;
    return before;
  }
  /// Of iterators over one array.
  bool operator==(const Rows& other) const { return at_ == other.at_; }

 private:
  Array array_;
  std::int64_t at_ = 0;
  Where where_ = {};
};

std::ostream& operator<<(std::ostream& out, const Array& x);
/// "(2, 3)", as Python writes shapes.
std::ostream& operator<<(std::ostream& out, const Shape& shape);

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
Array array(const Nested& values, std::optional<DType> dtype = {}, Where where = Where::current());
/// From a vector, row-major, at the speed of a copy: `array(v)`, `array(v, {2, 3})`. The dtype is
/// T's (32-bit unless x64) unless given, the shape one-dimensional unless given; one size may be
/// -1. Throws Error where the values do not fill the shape. Without a copy: numpy::adopt.
template <class T>
  requires has_dtype<T>
Array array(const std::vector<T>& values, const OptionalSizes& shape = {},
            std::optional<DType> dtype = {}, Where where = Where::current());
/// A copy of a literal's contents as they are, 64-bit types included.
Array asarray(const Literal& literal);

namespace internal {
Array array_of(Literal literal, const OptionalSizes& shape, std::optional<DType> dtype,
               const Where& where = Where::current());
/// Memory for a literal whose elements are about to be written.
Literal unwritten(Type type);
/// `count` elements one behind another, copied.
Array array_at(const void* data, DType stored, std::int64_t count, const OptionalSizes& shape,
               std::optional<DType> dtype, const Where& where = Where::current());
/// The elements. Throws Error, with the user's line, for a traced array.
Literal elements_of(const Array& x, const Where& where);
/// The elements of an array that must have one.
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
template <class T, class S>
T element_as(S v) {
  if constexpr (std::same_as<S, T>)
    return v;
  else if constexpr (std::same_as<S, BFloat16> || std::same_as<S, Float16>)
    return element_from<T>(static_cast<float>(v));
  else
    return element_from<T>(v);
}
template <class T>
T element(const Literal& l, std::int64_t i) {
  if (!has_storage(l.dtype())) return element_from<T>(l.number(i));
  return dispatch(l.dtype(), [&](auto t) -> T {
    return element_as<T>(l.span<decltype(t)>()[static_cast<std::size_t>(i)]);
  });
}
// Compiled once, in array/handle.cc: each is a switch over all dtypes.
extern template float element<float>(const Literal& l, std::int64_t i);
extern template double element<double>(const Literal& l, std::int64_t i);
extern template int element<int>(const Literal& l, std::int64_t i);
extern template std::int64_t element<std::int64_t>(const Literal& l, std::int64_t i);
extern template bool element<bool>(const Literal& l, std::int64_t i);
/// f(i, element i as T) in row-major order.
template <class T, class F>
void for_elements(const Literal& l, F f) {
  const auto n = static_cast<std::size_t>(l.count());
  if (!has_storage(l.dtype())) {
    for (std::size_t i = 0; i < n; ++i)
      f(i, element_from<T>(l.number(static_cast<std::int64_t>(i))));
    return;
  }
  dispatch(l.dtype(), [&](auto t) {
    const auto all = l.span<decltype(t)>();
    for (std::size_t i = 0; i < n; ++i) f(i, element_as<T>(all[i]));
  });
}
}  // namespace internal

template <class T>
std::vector<T> Array::to_vector(Where where) const {
  const Literal l = internal::elements_of(*this, where);
  if constexpr (has_dtype<T>)
    if (l.dtype() == dtype_of<T>) {
      const std::span<const T> all = l.span<T>();
      return {all.begin(), all.end()};
    }
  std::vector<T> out(static_cast<std::size_t>(l.count()));
  internal::for_elements<T>(l, [&](std::size_t i, T v) { out[i] = v; });
  return out;
}

template <class T>
T Array::item(Where where) const {
  return internal::element<T>(internal::only_element(*this, where), 0);
}

template <class T>
  requires has_dtype<T>
Array array(const std::vector<T>& values, const OptionalSizes& shape, std::optional<DType> dtype,
            Where where) {
  const auto count = static_cast<std::int64_t>(values.size());
  if constexpr (std::same_as<T, bool>) {  // whose vector has no elements of its own
    Literal l = internal::unwritten(Type(DType::i1, Shape{count}));
    std::copy(values.begin(), values.end(), l.mutable_span<bool>().begin());
    return internal::array_of(std::move(l), shape, dtype, where);
  } else {
    return internal::array_at(values.data(), dtype_of<T>, count, shape, dtype, where);
  }
}

}  // namespace strata
