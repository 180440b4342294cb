// Functions under NumPy's names (jax.numpy). All broadcast and promote as NumPy does with JAX's lattice; all accept
// C++ scalars; all may be traced, differentiated and batched. Errors name the function, the shapes and the user's line.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "strata/api/array.h"
#include "strata/api/operators.h"

namespace strata {

inline constexpr double pi = 3.14159265358979323846;
inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

namespace internal {
Array arange_integers(std::int64_t start, std::int64_t stop, std::int64_t step, std::optional<DType> dtype, std::source_location where);
Array arange_floats(double start, double stop, double step, std::optional<DType> dtype, std::source_location where);
}  // namespace internal

// ---- creation -------------------------------------------------------------------------------------------------
// Floats are f32 (f64 under x64) unless a dtype is given.
using Where = std::source_location;

Array zeros(const Sizes& shape, DType dtype = DType::f32, Where where = Where::current());
Array ones(const Sizes& shape, DType dtype = DType::f32, Where where = Where::current());
/// The dtype is the value's (strong) unless given.
Array full(const Sizes& shape, const Operand& value, std::optional<DType> dtype = {});
Array zeros_like(const Operand& x, std::optional<DType> dtype = {});
Array ones_like(const Operand& x, std::optional<DType> dtype = {});
Array full_like(const Operand& x, const Operand& value, std::optional<DType> dtype = {});
/// 0, 1, ..., stop-1: i32 unless given.
Array arange(std::int64_t stop, std::optional<DType> dtype = {}, Where where = Where::current());
/// start, start+step, ... below stop; i32 when both ends are integers, else f32.
template <std::integral A, std::integral B, std::integral C = std::int64_t>
Array arange(A start, B stop, C step = 1, std::optional<DType> dtype = {}, Where where = Where::current()) {
  return internal::arange_integers(static_cast<std::int64_t>(start), static_cast<std::int64_t>(stop), static_cast<std::int64_t>(step), dtype, where);
}
template <class A, class B, class C = double>
requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && std::is_arithmetic_v<C> && (std::floating_point<A> || std::floating_point<B>)
Array arange(A start, B stop, C step = 1, std::optional<DType> dtype = {}, Where where = Where::current()) {
  return internal::arange_floats(static_cast<double>(start), static_cast<double>(stop), static_cast<double>(step), dtype, where);
}
/// `num` numbers from start to stop, both included.
Array linspace(double start, double stop, std::int64_t num = 50, DType dtype = DType::f32, Where where = Where::current());
/// Ones on the k-th diagonal of an n x m matrix (m = n unless given).
Array eye(std::int64_t n, std::optional<std::int64_t> m = {}, std::int64_t k = 0, DType dtype = DType::f32, Where where = Where::current());
/// Ones at and below the k-th diagonal.
Array tri(std::int64_t n, std::optional<std::int64_t> m = {}, std::int64_t k = 0, DType dtype = DType::f32, Where where = Where::current());

// ---- elementwise ----------------------------------------------------------------------------------------------
// Functions of real analysis turn integers into floats first.
Array abs(const Operand& x);
Array cbrt(const Operand& x);
Array ceil(const Operand& x);
Array cos(const Operand& x);
Array cosh(const Operand& x);
Array erf(const Operand& x);
Array exp(const Operand& x);
Array exp2(const Operand& x);
Array expm1(const Operand& x);
Array floor(const Operand& x);
Array invert(const Operand& x);
Array isfinite(const Operand& x);
Array isinf(const Operand& x);
Array isnan(const Operand& x);
Array log(const Operand& x);
Array log10(const Operand& x);
Array log1p(const Operand& x);
Array log2(const Operand& x);
Array logical_not(const Operand& x);
Array negative(const Operand& x);
Array reciprocal(const Operand& x);
/// To the nearest even integer at ties.
Array round(const Operand& x);
Array sign(const Operand& x);
Array sin(const Operand& x);
Array sinh(const Operand& x);
Array sqrt(const Operand& x);
Array square(const Operand& x);
Array tan(const Operand& x);
Array tanh(const Operand& x);

Array add(const Operand& x, const Operand& y);
Array subtract(const Operand& x, const Operand& y);
Array multiply(const Operand& x, const Operand& y);
Array divide(const Operand& x, const Operand& y);
Array floor_divide(const Operand& x, const Operand& y);
Array remainder(const Operand& x, const Operand& y);
Array mod(const Operand& x, const Operand& y);
/// An integer C++ exponent is a product of squares; others go through the power function.
Array power(const Operand& x, const Operand& y);
Array maximum(const Operand& x, const Operand& y);
Array minimum(const Operand& x, const Operand& y);
Array arctan2(const Operand& y, const Operand& x);
Array hypot(const Operand& x, const Operand& y);
/// log(exp(x) + exp(y)) without overflow.
Array logaddexp(const Operand& x, const Operand& y);
Array equal(const Operand& x, const Operand& y);
Array not_equal(const Operand& x, const Operand& y);
Array less(const Operand& x, const Operand& y);
Array less_equal(const Operand& x, const Operand& y);
Array greater(const Operand& x, const Operand& y);
Array greater_equal(const Operand& x, const Operand& y);
Array logical_and(const Operand& x, const Operand& y);
Array logical_or(const Operand& x, const Operand& y);
Array logical_xor(const Operand& x, const Operand& y);
Array bitwise_and(const Operand& x, const Operand& y);
Array bitwise_or(const Operand& x, const Operand& y);
Array bitwise_xor(const Operand& x, const Operand& y);
Array left_shift(const Operand& x, const Operand& y);
Array right_shift(const Operand& x, const Operand& y);
/// min(max(x, low), high)
Array clip(const Operand& x, const Operand& low, const Operand& high);
/// condition ? x : y, element by element.
Array where(const Operand& condition, const Operand& x, const Operand& y);
Array astype(const Operand& x, DType dtype);
/// Whether |x - y| <= atol + rtol |y| everywhere.
Array allclose(const Operand& x, const Operand& y, double rtol = 1e-5, double atol = 1e-8);
Array array_equal(const Operand& x, const Operand& y);

// ---- reductions -----------------------------------------------------------------------------------------------
// `sum(x)`, `sum(x, 1)`, `sum(x, {0, 1})`, `sum(x, {.axis = -1, .keepdims = true})`
/// Integers of fewer than 32 bits and booleans are summed as i32 (u32 for unsigned ones).
Array sum(const Operand& x, const Reduce& options = {});
Array prod(const Operand& x, const Reduce& options = {});
/// Integers give floats; bf16 and f16 are summed and divided in f32.
Array mean(const Operand& x, const Reduce& options = {});
Array max(const Operand& x, const Reduce& options = {});
Array min(const Operand& x, const Reduce& options = {});
Array any(const Operand& x, const Reduce& options = {});
Array all(const Operand& x, const Reduce& options = {});
/// The mean of squared distances to the mean (divided by n - ddof).
Array var(const Operand& x, const Variance& options = {});
Array std_(const Operand& x, const Variance& options = {});
/// log(sum(exp(x))) without overflow.
Array logsumexp(const Operand& x, const Reduce& options = {});

// The same with axes alone: `sum(x, 1)`, `sum(x, {0, 1})`. (Templates, because a braced list of integers and a list with
// designators must not be taken for each other.)
template <class T>
concept AxesLike = std::convertible_to<T, Axes>;
#define STRATA_REDUCTION_BY_AXES(name, Options)                                                                 \
  template <AxesLike T> Array name(const Operand& x, const T& axis) { return name(x, Options{.axis = Axes(axis)}); } \
  template <std::integral T> Array name(const Operand& x, std::initializer_list<T> axes) {                       \
    return name(x, Options{.axis = std::vector<std::int64_t>(axes.begin(), axes.end())});                        \
  }
STRATA_REDUCTION_BY_AXES(sum, Reduce)
STRATA_REDUCTION_BY_AXES(prod, Reduce)
STRATA_REDUCTION_BY_AXES(mean, Reduce)
STRATA_REDUCTION_BY_AXES(max, Reduce)
STRATA_REDUCTION_BY_AXES(min, Reduce)
STRATA_REDUCTION_BY_AXES(any, Reduce)
STRATA_REDUCTION_BY_AXES(all, Reduce)
STRATA_REDUCTION_BY_AXES(var, Variance)
STRATA_REDUCTION_BY_AXES(std_, Variance)
STRATA_REDUCTION_BY_AXES(logsumexp, Reduce)
#undef STRATA_REDUCTION_BY_AXES

/// Index (i32) of the first largest element along an axis, of the flattened array without one; NaN is the largest.
Array argmax(const Operand& x, std::optional<std::int64_t> axis = {});
Array argmin(const Operand& x, std::optional<std::int64_t> axis = {});
/// Sums of the first 1, 2, ... elements along an axis, of the flattened array without one.
Array cumsum(const Operand& x, std::optional<std::int64_t> axis = {});
Array cumprod(const Operand& x, std::optional<std::int64_t> axis = {});

// ---- shape ----------------------------------------------------------------------------------------------------
/// One size may be -1.
Array reshape(const Operand& x, const Sizes& shape);
Array ravel(const Operand& x);
/// Result axis i is axis axes[i] of x; all reversed without `axes`.
Array transpose(const Operand& x, const Sizes& axes = {});
Array swapaxes(const Operand& x, std::int64_t axis1, std::int64_t axis2);
Array moveaxis(const Operand& x, std::int64_t from, std::int64_t to);
Array expand_dims(const Operand& x, const Axes& axis);
/// Drops axes of size 1: all, or the given ones.
Array squeeze(const Operand& x, const Axes& axis = {});
Array broadcast_to(const Operand& x, const Sizes& shape);
Array concatenate(const std::vector<Array>& arrays, std::int64_t axis = 0, Where where = Where::current());
/// Joins along a new axis.
Array stack(const std::vector<Array>& arrays, std::int64_t axis = 0, Where where = Where::current());
/// Into `sections` equal parts, or at the given indices.
std::vector<Array> split(const Operand& x, std::int64_t sections, std::int64_t axis = 0);
std::vector<Array> split(const Operand& x, const std::vector<std::int64_t>& indices, std::int64_t axis = 0);
Array flip(const Operand& x, const Axes& axis = {});
/// Elements pushed off one end come in at the other.
Array roll(const Operand& x, std::int64_t shift, std::int64_t axis);
Array repeat(const Operand& x, std::int64_t times, std::int64_t axis);
Array tile(const Operand& x, const Sizes& repetitions);
struct PadWidth { std::int64_t before = 0, after = 0; };
/// One width for each axis.
Array pad(const Operand& x, const std::vector<PadWidth>& widths, const Operand& value = 0);
Array tril(const Operand& x, std::int64_t k = 0);
Array triu(const Operand& x, std::int64_t k = 0);
Array diagonal(const Operand& x);
Array trace(const Operand& x);

// ---- products -------------------------------------------------------------------------------------------------
/// NumPy's dot: the last axis of x with the second to last of y.
Array dot(const Operand& x, const Operand& y);
/// Batches of matrices; leading axes broadcast.
Array matmul(const Operand& x, const Operand& y);
Array outer(const Operand& x, const Operand& y);
Array vdot(const Operand& x, const Operand& y);
/// Sums over the last `axes` axes of x and the first of y.
Array tensordot(const Operand& x, const Operand& y, std::int64_t axes = 2);
/// "bij,bjk->bik", "...ij,...jk", "ii->i" is not supported: each operand's letters are distinct. Any number of operands,
/// contracted from the left.
Array einsum(const std::string& subscripts, const std::vector<Array>& operands, Where where = Where::current());
template <class... More>
Array einsum(const std::string& subscripts, const Operand& first, const More&... more) {
  return einsum(subscripts, std::vector<Array>{first.array, Array(more)...}, first.where);
}

// ---- indexing (x[...] and x.at(...): api/index.h) ----------------------------------------------------------------
/// Elements of x along an axis at integer `indices`; out of range: NaN for floats, the extreme value for integers
/// (mode "fill"), or the nearest element ("clip").
Array take(const Operand& x, const Operand& indices, std::int64_t axis, const std::string& mode = "fill");
/// x at indices that have its number of axes, along one axis.
Array take_along_axis(const Operand& x, const Operand& indices, std::int64_t axis);

}  // namespace strata
