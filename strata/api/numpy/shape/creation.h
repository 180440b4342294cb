// Arrays from sizes and numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/api/array.h"
#include "strata/api/operators.h"

namespace strata::numpy {

using strata::array;
using strata::asarray;

namespace detail {
Array arange_integers(std::int64_t start, std::int64_t stop, std::int64_t step,
                      std::optional<DType> dtype, Where where);
Array arange_floats(double start, double stop, double step, std::optional<DType> dtype,
                    Where where);
}  // namespace detail

// Floats are f32 (f64 under x64) unless a dtype is given.
/// Zeros of a shape.
Array zeros(const Sizes& shape, DType dtype = default_float, Where where = Where::current());
/// Ones of a shape.
Array ones(const Sizes& shape, DType dtype = default_float, Where where = Where::current());
/// The dtype is the value's (strong) unless given.
Array full(const Sizes& shape, const Operand& value, std::optional<DType> dtype = {});
/// Zeros of the shape and dtype of x, unless given.
Array zeros_like(const Operand& x, std::optional<DType> dtype = {},
                 const OptionalSizes& shape = {});
/// Ones of the shape and dtype of x, unless given.
Array ones_like(const Operand& x, std::optional<DType> dtype = {}, const OptionalSizes& shape = {});
/// `value` everywhere, in the shape and dtype of x, unless given.
Array full_like(const Operand& x, const Operand& value, std::optional<DType> dtype = {},
                const OptionalSizes& shape = {});
/// Zeros: what an empty array holds is not left to chance.
inline Array empty(const Sizes& shape, DType dtype = default_float,
                   Where where = Where::current()) {
  return zeros(shape, dtype, where);
}
inline Array empty_like(const Operand& x, std::optional<DType> dtype = {},
                        const OptionalSizes& shape = {}) {
  return zeros_like(x, dtype, shape);
}
/// start, start+step, ... below stop: `arange(3)`, `arange(1, 7, 2)`, `arange(0, 1, 0.25)`; start
/// is 0 and the step 1 where left out. i32 when all numbers are integers, else f32 (i64 and f64
/// under x64), unless a dtype is given; floats are rounded once from start + i * step in f64.
/// Throws Error for a step of 0.
template <class T>
  requires std::is_arithmetic_v<T>
Array arange(T stop, std::optional<DType> dtype = {}, Where where = Where::current()) {
  if constexpr (std::integral<T>)
    return detail::arange_integers(0, static_cast<std::int64_t>(stop), 1, dtype, where);
  else
    return detail::arange_floats(0, static_cast<double>(stop), 1, dtype, where);
}
template <class A, class B, class C = std::int64_t>
  requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && std::is_arithmetic_v<C>
Array arange(A start, B stop, C step = 1, std::optional<DType> dtype = {},
             Where where = Where::current()) {
  if constexpr (std::integral<A> && std::integral<B> && std::integral<C>)
    return detail::arange_integers(static_cast<std::int64_t>(start),
                                   static_cast<std::int64_t>(stop), static_cast<std::int64_t>(step),
                                   dtype, where);
  else
    return detail::arange_floats(static_cast<double>(start), static_cast<double>(stop),
                                 static_cast<double>(step), dtype, where);
}
struct Spacing {
  internal::Named named = internal::Named();
  bool endpoint = true;
  std::optional<DType> dtype = std::nullopt;
};
/// `num` numbers from start to stop in equal steps, both included (or the last left out).
Array linspace(double start, double stop, std::int64_t num, const Spacing& options,
               Where where = Where::current());
Array linspace(double start, double stop, std::int64_t num = 50, DType dtype = default_float,
               Where where = Where::current());
/// `num` numbers from base^start to base^stop whose exponents have equal steps.
Array logspace(double start, double stop, std::int64_t num = 50, const Spacing& options = {},
               double base = 10, Where where = Where::current());
/// `num` numbers from start to stop, of which each is the one before times the same.
Array geomspace(double start, double stop, std::int64_t num = 50, const Spacing& options = {},
                Where where = Where::current());

/// Ones on the k-th diagonal of an n x m matrix (m = n unless given).
Array eye(std::int64_t n, std::optional<std::int64_t> m = {}, std::int64_t k = 0,
          DType dtype = default_float, Where where = Where::current());
inline Array identity(std::int64_t n, DType dtype = default_float, Where where = Where::current()) {
  return eye(n, {}, 0, dtype, where);
}
/// Ones at and below the k-th diagonal.
Array tri(std::int64_t n, std::optional<std::int64_t> m = {}, std::int64_t k = 0,
          DType dtype = default_float, Where where = Where::current());

/// The indices of each element, one array an axis: i32[rank, sizes...] unless a dtype is given (i64
/// under x64); sparse: of size 1 along the other axes.
Array indices(const Sizes& dimensions, DType dtype = default_int, Where where = Where::current());
/// The indices of each element, one array an axis, of size 1 along the other axes.
[[nodiscard]] std::vector<Array> sparse_indices(const Sizes& dimensions, DType dtype = default_int,
                                                Where where = Where::current());
struct Grid {
  internal::Named named = internal::Named();
  /// "xy": the first two axes exchanged; "ij".
  std::string indexing = "xy";
  bool sparse = false;
};
/// The coordinates of a grid, one array a vector.
[[nodiscard]] std::vector<Array> meshgrid(const std::vector<Array>& vectors,
                                          const Grid& options = {}, Where where = Where::current());
/// Powers of x as columns, the highest first.
Array vander(const Operand& x, std::optional<std::int64_t> n = {}, bool increasing = false);

// Windows of m elements.
/// A window of m numbers that rises and falls as a triangle does, f32 (f64 under x64).
Array bartlett(std::int64_t m, Where where = Where::current());
/// Blackman's window of m numbers, a sum of three cosines.
Array blackman(std::int64_t m, Where where = Where::current());
/// Hamming's window of m numbers, a raised cosine that does not reach 0.
Array hamming(std::int64_t m, Where where = Where::current());
/// The window of Hann, m numbers of a raised cosine that reaches 0.
Array hanning(std::int64_t m, Where where = Where::current());
/// Kaiser's window of m numbers; `beta` trades width for what is beside.
Array kaiser(std::int64_t m, double beta, Where where = Where::current());

}  // namespace strata::numpy

namespace strata {

using numpy::arange;
using numpy::bartlett;
using numpy::blackman;
using numpy::empty;
using numpy::empty_like;
using numpy::eye;
using numpy::full;
using numpy::full_like;
using numpy::geomspace;
using numpy::hamming;
using numpy::hanning;
using numpy::identity;
using numpy::indices;
using numpy::kaiser;
using numpy::linspace;
using numpy::logspace;
using numpy::meshgrid;
using numpy::ones;
using numpy::ones_like;
using numpy::tri;
using numpy::vander;
using numpy::zeros;
using numpy::zeros_like;

}  // namespace strata
