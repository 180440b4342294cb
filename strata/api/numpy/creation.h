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
Array zeros(const Sizes& shape, DType dtype = default_float, Where where = Where::current());
Array ones(const Sizes& shape, DType dtype = default_float, Where where = Where::current());
/// The dtype is the value's (strong) unless given.
Array full(const Sizes& shape, const Operand& value, std::optional<DType> dtype = {});
Array zeros_like(const Operand& x, std::optional<DType> dtype = {},
                 const std::optional<Sizes>& shape = {});
Array ones_like(const Operand& x, std::optional<DType> dtype = {},
                const std::optional<Sizes>& shape = {});
Array full_like(const Operand& x, const Operand& value, std::optional<DType> dtype = {},
                const std::optional<Sizes>& shape = {});
/// Zeros: what an empty array holds is not left to chance.
inline Array empty(const Sizes& shape, DType dtype = default_float,
                   Where where = Where::current()) {
  return zeros(shape, dtype, where);
}
inline Array empty_like(const Operand& x, std::optional<DType> dtype = {},
                        const std::optional<Sizes>& shape = {}) {
  return zeros_like(x, dtype, shape);
}
/// 0, 1, ..., stop-1: i32 (i64 under x64) unless given.
Array arange(std::int64_t stop, std::optional<DType> dtype = {}, Where where = Where::current());
/// start, start+step, ... below stop; i32 when both ends are integers, else f32 (i64 and f64 under
/// x64).
template <std::integral A, std::integral B, std::integral C = std::int64_t>
Array arange(A start, B stop, C step = 1, std::optional<DType> dtype = {},
             Where where = Where::current()) {
  return detail::arange_integers(static_cast<std::int64_t>(start), static_cast<std::int64_t>(stop),
                                 static_cast<std::int64_t>(step), dtype, where);
}
template <class A, class B, class C = double>
  requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && std::is_arithmetic_v<C> &&
           (std::floating_point<A> || std::floating_point<B>)
Array arange(A start, B stop, C step = 1, std::optional<DType> dtype = {},
             Where where = Where::current()) {
  return detail::arange_floats(static_cast<double>(start), static_cast<double>(stop),
                               static_cast<double>(step), dtype, where);
}
struct Spacing {
  internal::Named named = internal::Named();
  bool endpoint = true;
  std::optional<DType> dtype = std::nullopt;
};
/// `num` numbers from start to stop, both included (or the last left out): in equal steps, with
/// exponents of `base` in equal steps, in equal ratios.
Array linspace(double start, double stop, std::int64_t num, const Spacing& options,
               Where where = Where::current());
Array linspace(double start, double stop, std::int64_t num = 50, DType dtype = default_float,
               Where where = Where::current());
Array logspace(double start, double stop, std::int64_t num = 50, const Spacing& options = {},
               double base = 10, Where where = Where::current());
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
Array bartlett(std::int64_t m, Where where = Where::current());
Array blackman(std::int64_t m, Where where = Where::current());
Array hamming(std::int64_t m, Where where = Where::current());
Array hanning(std::int64_t m, Where where = Where::current());
Array kaiser(std::int64_t m, double beta, Where where = Where::current());

}  // namespace strata::numpy
