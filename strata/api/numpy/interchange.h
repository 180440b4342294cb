// Arrays from the memory of others, and their elements for others.
//
//   Array x = asarray(std::span<const float>(data, 6), {2, 3});    // copied
//   Array y = asarray(matrix);                    // a view of several dimensions, as std::mdspan:
//                                                 // copied
//   Array z = borrow(data, {2, 3}, [=] { free(data); });  // not copied; free when nobody needs it
//   Array v = adopt(std::move(vector));           // not copied: the vector's memory
//   std::span<const float> e = elements<float>(y);  // not copied: lives as long as an Array of
//                                                 // these elements
//   Array t = from_dlpack(tensor);                // not copied
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "strata/api/array.h"
#include "strata/api/dlpack.h"
#include "strata/type/strided.h"

namespace strata::numpy {

struct AsArray {
  internal::Named named = internal::Named();
  std::optional<DType> dtype = std::nullopt;
  /// Whether the result's memory is its own: always, never (Error where it must be another one), or
  /// as it comes.
  std::optional<bool> copy = std::nullopt;
};
/// The array itself, or one of the dtype: what is an array of that dtype already is not copied. A
/// C++ scalar becomes weakly typed, unless a dtype is given.
Array asarray(const Operand& x, const AsArray& options);
inline Array asarray(const Operand& x, std::optional<DType> dtype = {}) {
  return asarray(x, AsArray{.dtype = dtype});
}
inline Array asarray(std::initializer_list<Nested> values, std::optional<DType> dtype = {}) {
  return strata::array(Nested(values), dtype);
}
template <class T>
  requires has_dtype<T>
Array asarray(const std::vector<T>& values, const OptionalSizes& shape = {},
              std::optional<DType> dtype = {}) {
  return strata::array(values, shape, dtype);
}

namespace detail {
/// Of `count` elements; as many as fill the shape where that is negative.
Array borrowed(const void* data, DType stored, std::int64_t count, const OptionalSizes& shape,
               std::function<void()> release, Where where);
Array adopted(std::shared_ptr<std::byte[]> bytes, DType stored, std::int64_t count,
              const OptionalSizes& shape, Where where);
Array from_memory(const void* data, DType stored, const std::vector<std::int64_t>& sizes,
                  const std::vector<std::int64_t>& byte_strides, std::optional<DType> dtype);
void check_elements(const Array& x, DType dtype);
/// The address of the elements as long as an Array holds them. Throws Error for a C++ number, which
/// has no memory.
const std::byte* memory_of(const Array& x);
}  // namespace detail

/// The elements of a span, row-major; one-dimensional unless a shape is given.
template <class T, std::size_t n>
  requires has_dtype<std::remove_const_t<T>>
Array asarray(std::span<T, n> values, const OptionalSizes& shape = {},
              std::optional<DType> dtype = {}, Where where = Where::current()) {
  const auto count = static_cast<std::int64_t>(values.size());
  const Array out = detail::from_memory(values.data(), dtype_of<std::remove_const_t<T>>, {count},
                                        {static_cast<std::int64_t>(sizeof(T))}, dtype);
  return shape ? out.reshape(*shape, where) : out;
}

/// An array of elements that stay where they are, row-major in the caller's memory. They must not
/// change while anything reads the array or one made of it without a copy (`x.reshape(...)`);
/// `release`, where given, runs once when nothing does any longer, on the thread that let go last,
/// or at once where this throws. Strata never writes to them: a donated argument there is
/// copied. Throws Error for 64-bit elements while x64 is off, for they would become 32-bit ones,
/// and where `data` is not aligned to its type.
template <class T>
  requires has_dtype<T>
Array borrow(const T* data, const Sizes& shape, std::function<void()> release = {},
             Where where = Where::current()) {
  return detail::borrowed(data, dtype_of<T>, -1, shape, std::move(release), where);
}
/// The same of a span: one-dimensional unless a shape is given, which the elements must fill.
template <class T, std::size_t n>
  requires has_dtype<std::remove_const_t<T>>
Array borrow(std::span<T, n> values, const OptionalSizes& shape = {},
             std::function<void()> release = {}, Where where = Where::current()) {
  return detail::borrowed(values.data(), dtype_of<std::remove_const_t<T>>,
                          static_cast<std::int64_t>(values.size()), shape, std::move(release),
                          where);
}

/// An array of a vector's elements, whose memory it takes over: nothing is copied, and programs may
/// write results there once the array is donated. Shape and errors as of borrow.
template <class T>
  requires(has_dtype<T> && !std::same_as<T, bool>)
Array adopt(std::vector<T>&& values, const OptionalSizes& shape = {},
            Where where = Where::current()) {
  auto owner = std::make_shared<std::vector<T>>(std::move(values));
  auto* data = reinterpret_cast<std::byte*>(owner->data());
  const auto count = static_cast<std::int64_t>(owner->size());
  return detail::adopted(std::shared_ptr<std::byte[]>(std::move(owner), data), dtype_of<T>, count,
                         shape, where);
}

/// What std::mdspan and its like have: a rank, extents, strides in elements, and where the first
/// element is.
template <class V>
concept StridedView = requires(const V& v, std::size_t d) {
  typename V::element_type;
  { V::rank() } -> std::convertible_to<std::size_t>;
  { v.extent(d) } -> std::convertible_to<std::int64_t>;
  { v.stride(d) } -> std::convertible_to<std::int64_t>;
  { v.data_handle() } -> std::convertible_to<const typename V::element_type*>;
} && has_dtype<std::remove_const_t<typename V::element_type>>;

/// The elements of a view, copied.
template <StridedView V>
Array asarray(const V& view, std::optional<DType> dtype = {}) {
  using T = std::remove_const_t<typename V::element_type>;
  std::vector<std::int64_t> sizes, strides;
  for (std::size_t d = 0; d < V::rank(); ++d) {
    sizes.push_back(static_cast<std::int64_t>(view.extent(d)));
    strides.push_back(static_cast<std::int64_t>(view.stride(d)) *
                      static_cast<std::int64_t>(sizeof(T)));
  }
  return detail::from_memory(view.data_handle(), dtype_of<T>, sizes, strides, dtype);
}

/// The elements of an array of this type, row-major, in place. Throws Error for another
/// dtype, a traced array, and an array that is a C++ number.
template <class T>
  requires has_dtype<T>
std::span<const T> elements(const Array& x) {
  detail::check_elements(x, dtype_of<T>);
  return {reinterpret_cast<const T*>(detail::memory_of(x)), static_cast<std::size_t>(x.size())};
}

/// A view of an array's elements as std::mdspan has them: `v(1, 2)`, `v.extent(0)`. Holds the
/// memory.
template <class T, std::size_t n>
class ArrayView {
 public:
  /// What an element is, as std::mdspan names it.
  using element_type = const T;
  /// Throws Error for another dtype or rank, and for a traced array.
  explicit ArrayView(const Array& x);
  /// The number of dimensions.
  static constexpr std::size_t rank() { return n; }
  /// The size of dimension d.
  std::int64_t extent(std::size_t d) const { return sizes_[d]; }
  /// How many elements apart neighbours along d are.
  std::int64_t stride(std::size_t d) const { return strides_[d]; }
  /// The first element.
  const T* data_handle() const { return reinterpret_cast<const T*>(buffer_.data()); }
  template <class... Index>
    requires(sizeof...(Index) == n)
  const T& operator()(Index... index) const {
    std::int64_t at = 0;
    std::size_t d = 0;
    ((at += static_cast<std::int64_t>(index) * strides_[d++]), ...);
    return data_handle()[at];
  }

 private:
  runtime::Buffer buffer_;
  std::array<std::int64_t, n> sizes_{}, strides_{};
};

namespace detail {
void check_rank(const Array& x, std::size_t rank);
}
template <class T, std::size_t n>
ArrayView<T, n>::ArrayView(const Array& x) {
  detail::check_elements(x, dtype_of<T>);
  detail::check_rank(x, n);
  buffer_ = x.buffer();
  std::int64_t stride = 1;
  for (std::size_t d = n; d-- > 0; stride *= sizes_[d]) {
    sizes_[d] = x.shape()[static_cast<int>(d)];
    strides_[d] = stride;
  }
}

struct FromDlpack {
  internal::Named named = internal::Named();
  /// As in AsArray.
  std::optional<bool> copy = std::nullopt;
};
/// The array of another library, whose structure this takes: its deleter runs when the memory is no
/// longer needed, or at once when this throws. Not copied where elements are in row-major order,
/// aligned, on the CPU; nobody may write to them then, and Strata does not where the tensor is
/// marked as read-only: such an array that is donated is copied. 64-bit elements become 32-bit
/// ones, copied, unless x64 is on. Throws Error for other devices and types, another major version,
/// and where `copy = false` cannot be.
Array from_dlpack(dlpack::ManagedTensor* tensor, const FromDlpack& options = {},
                  Where where = Where::current());
/// The array's memory for another library, which calls the deleter when done; marked as read-only,
/// for arrays do not change. Throws Error for a traced array and for types that DLPack has not.
dlpack::ManagedTensor* to_dlpack(const Operand& x);

}  // namespace strata::numpy

namespace strata {

using numpy::adopt;
using numpy::ArrayView;
using numpy::asarray;
using numpy::borrow;
using numpy::elements;
using numpy::from_dlpack;

}  // namespace strata
