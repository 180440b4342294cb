// Determinants: of two and three rows by the rule of Sarrus, of others by triangular factors.
//
// The derivative of a determinant is the trace of adj(a) da, which exists where a is singular too.
// Upstream (jax.numpy.linalg, _cofactor_solve) makes adj(a) of the triangular factors and takes the
// last pivot for the one that may be zero; where another is zero (of a matrix with a column of
// zeros, say) it gives zeros. Here the least pivot is that one, wherever it stands.
#include "strata/api/lax/linalg.h"
#include "strata/api/lax/operations.h"
#include "strata/api/lax/slicing.h"
#include "strata/api/matrices.h"
#include "strata/api/numpy/constants.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/index/indexing.h"
#include "strata/api/numpy/linalg.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/operators.h"
#include "strata/api/transform/custom.h"

namespace strata::numpy::linalg {
namespace {

using internal::describe;
using internal::diagonals;
using internal::fail;
using internal::require_matrices;
using internal::Site;
using internal::strong_inexact;
using internal::strong_number;
namespace ll = lax::linalg;

/// 1 or -1: whether the exchanges of rows are even, of a dtype.
Array parity(const Array& pivots, const Array& more, DType dtype) {
  const Array own = lax::broadcasted_iota(DType::i32, pivots.shape(), pivots.ndim() - 1);
  const Array odd = (sum(astype(not_equal(pivots, own), DType::i32), -1) + more) % 2;
  return astype(1 - 2 * odd, dtype);
}

Array slice_of(const Array& a, std::int64_t i, std::int64_t j) {
  return squeeze(
      lax::slice_in_dim(lax::slice_in_dim(a, i, i + 1, 1, a.ndim() - 2), j, j + 1, 1, a.ndim() - 1),
      {-2, -1});
}

/// By the rule of Sarrus.
Array small_det(const Array& a) {
  auto at = [&](std::int64_t i, std::int64_t j) { return slice_of(a, i, j); };
  if (a.shape(-1) == 2) return at(0, 0) * at(1, 1) - at(0, 1) * at(1, 0);
  return at(0, 0) * at(1, 1) * at(2, 2) + at(0, 1) * at(1, 2) * at(2, 0) +
         at(0, 2) * at(1, 0) * at(2, 1) - at(0, 2) * at(1, 1) * at(2, 0) -
         at(0, 0) * at(1, 2) * at(2, 1) - at(0, 1) * at(1, 0) * at(2, 2);
}

/// P a = L U, L and U in one matrix, and what they say of determinants.
struct Factored {
  explicit Factored(const Array& a) {
    const auto [both, pivots, rows] = ll::lu(a);
    lu = both, permutation = rows, diagonal = diagonals(lu),
    sign = parity(pivots, Array(0), a.dtype());
  }
  Array det() const { return prod(diagonal, -1) * sign; }
  Array adjugate() const;

  Array lu, permutation, diagonal, sign;
};

/// adj(a) = adj(U) L^-1 det(P) P. Let u_kk be the least pivot, q the product of the others and of
/// P's sign, and U' be U with 1 for u_kk. Of y = adj(U) x the rows below k are those of q u_kk
/// U'^-1 x, which u_kk does not reach; row k is that of q U'^-1 x; the rows above solve U y = q
/// u_kk x. Nothing is divided by u_kk.
Array Factored::adjugate() const {
  const Array one = strong_number(diagonal, 1), zero = strong_number(diagonal, 0);
  const Array places = lax::broadcasted_iota(DType::i32, diagonal.shape(), diagonal.ndim() - 1);
  const Array least = astype(argmin(abs(diagonal), {.axis = -1, .keepdims = true}), DType::i32),
              is_least = places == least;
  const Array others = expand_dims(prod(where(is_least, one, diagonal), -1) * sign, {-2, -1});
  const Array det = others * expand_dims(sum(where(is_least, diagonal, zero), -1), {-2, -1});
  const Array unit = broadcast_to(eye(lu.shape(-1), {}, 0, lu.dtype()), lu.shape()),
              on_diagonal = unit != 0;
  // Where another pivot is zero too, q is, and the rest is not to be NaN.
  const Array u =
      where(on_diagonal, expand_dims(where(is_least | (diagonal == 0), one, diagonal), -1), lu);
  const Array row = expand_dims(places, -1), at = expand_dims(least, -1);
  const Array x = ll::triangular_solve(
      lu, take_along_axis(unit, expand_dims(permutation, -1), -2, {.mode = "promise_in_bounds"}),
      {.left_side = true, .lower = true, .unit_diagonal = true});
  const Array below =
      where(row == at, others, det) * ll::triangular_solve(u, x, {.left_side = true});
  return ll::triangular_solve(where(row < at, u, unit), where(row < at, det * x, below),
                              {.left_side = true});
}

Array det_by_lu(const Array& a) {
  auto value = [](const Array& at) { return Factored(at).det(); };
  auto rule = [](const std::tuple<Array>& at, const std::tuple<Array>& along) {
    const Factored f(std::get<0>(at));
    return std::pair(f.det(),
                     sum(f.adjugate() * matrix_transpose(std::get<0>(along)), Axes{-2, -1}));
  };
  return custom_jvp(value, rule)(a);
}

SlogdetResult slogdet_by_qr(const Array& a) {
  if (is_complex(a.dtype()))
    fail("slogdet", "method \"qr\" takes real matrices, got {}", describe(a.type()));
  const std::vector<Array> factors = internal::factors("strata.geqrf", {a});
  const Array d = diagonals(factors[0]);
  const Array reflected = lax::slice_in_dim(
      factors[1], 0, std::max<std::int64_t>(a.shape(-1) - 1, 0), 1, factors[1].ndim() - 1);
  return {prod(sign(d), -1) *
              prod(where(not_equal(reflected, 0), strong_number(d, -1), strong_number(d, 1)), -1),
          sum(log(abs(d)), -1)};
}

SlogdetResult slogdet_by_lu(const Array& a) {
  const auto [lu, pivots, permutation] = ll::lu(a);
  const Array d = diagonals(lu), is_zero = any(d == 0, -1), size = abs(d);
  Array signs = strong_number(d, 1), negative = Array(0);
  if (is_complex(a.dtype()))
    signs = prod(d / astype(size, d.dtype()), -1);
  else
    negative = sum(astype(d < 0, DType::i32), -1);
  return {where(is_zero, strong_number(d, 0), signs * parity(pivots, negative, d.dtype())),
          where(is_zero, strong_number(size, -inf), sum(log(size), -1))};
}

}  // namespace

Array det(const Operand& operand) {
  Site site(operand);
  const Array a = strong_inexact(operand);
  require_matrices("det", a, true);
  const std::int64_t n = a.shape(-1);
  if (n == 0) return ones(internal::common_batch("det", std::span(&a, 1)), a.dtype());
  return n == 2 || n == 3 ? small_det(a) : det_by_lu(a);
}

SlogdetResult slogdet(const Operand& operand, const std::string& method) {
  Site site(operand);
  const Array a = strong_inexact(operand);
  require_matrices("slogdet", a, true);
  if (method == "qr") return slogdet_by_qr(a);
  if (method != "lu") fail("slogdet", "method is \"lu\" or \"qr\", got \"{}\"", method);
  return slogdet_by_lu(a);
}

}  // namespace strata::numpy::linalg
