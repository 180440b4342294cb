#include "strata/api/lax/linalg.h"

#include "strata/api/index.h"
#include "strata/api/lax/operations.h"
#include "strata/api/lax/slicing.h"
#include "strata/api/matrices.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/index/indexing.h"
#include "strata/api/numpy/products.h"
#include "strata/api/numpy/shape/diagonals.h"
#include "strata/api/numpy/shape/joining.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/operators.h"
#include "strata/api/transform/control.h"

namespace strata::lax::linalg {
namespace {

using internal::adjoint;
using internal::describe;
using internal::fail;
using internal::Ints;
using internal::require_matrices;
using internal::Site;
using internal::symmetrized;
using Range = std::optional<std::pair<std::int64_t, std::int64_t>>;

/// Not weak, and matrices.
Array matrices(const char* name, const Array& x, bool square = false) {
  require_matrices(name, x, square);
  if (!is_inexact(x.dtype()))
    fail(name, "floats and complex numbers are taken, got {}", describe(x.type()));
  return internal::strong(x);
}

/// The Hermitian part where asked, which is a float where x is an integer, as upstream's division
/// makes it.
Array hermitian(const char* name, const Array& x, bool symmetrize) {
  require_matrices(name, x, true);
  return matrices(name, symmetrize ? symmetrized(internal::as_inexact(x)) : x);
}

void require_all(const char* name, const Range& range, std::int64_t count) {
  if (range && *range != std::pair(std::int64_t{0}, count))
    fail(name, "a part of the spectrum, [{}, {}) of {}, is not computed", range->first,
         range->second, count);
}

bool same(const Array& x, const Array& y) { return x.dtype() == y.dtype() && x.ndim() == y.ndim(); }

/// c x - s y and c y + s x, which have no y in their first place.
struct Rotation {
  Array c, s;
};
Rotation rotation(const Array& x, const Array& y) {
  const Array none = y == 0, most = where(none, 1, maximum(numpy::abs(x), numpy::abs(y)));
  const Array a = x / most, b = y / most, r = 1 / numpy::sqrt(a * a + b * b);
  return {where(none, 1, a * r), where(none, 0, -b * r)};
}

}  // namespace

Array cholesky(const Operand& x, Cholesky options) {
  Site site(x);
  return internal::factors("stablehlo.cholesky",
                           {hermitian("cholesky", x, options.symmetrize_input)},
                           {{"lower", true}})[0];
}

Array cholesky_update(const Operand& r_matrix, const Operand& w_vector) {
  Site site(r_matrix);
  Array r = matrices("cholesky_update", r_matrix, true), z = w_vector;
  if (r.ndim() != 2 || z.ndim() != 1 || z.shape(0) != r.shape(0) || z.dtype() != r.dtype())
    fail("cholesky_update", "a square matrix and a vector of its size are taken, got {} and {}",
         describe(r_matrix->type()), describe(w_vector->type()));
  for (std::int64_t k = 0; k < z.shape(0); ++k) {
    const Array row = r[{k}];
    const auto [c, s] = rotation(row[{k}], z[{k}]);
    r = r.at({k}).set(c * row - s * z);
    z = c * z + s * row;
  }
  return r;
}

std::vector<Array> eig(const Operand& x, const Eig& options) {
  Site site(x);
  if (options.implementation && *options.implementation != EigImplementation::LAPACK)
    fail("eig", "that implementation is not one of CPUs");
  const bool left = options.compute_left_eigenvectors, right = options.compute_right_eigenvectors;
  const std::string vectors = left ? "both" : right ? "right" : "none";
  std::vector<Array> out = internal::factors(
      "strata.eig", {matrices("eig", x, true)},
      {{"vector_derivatives", options.enable_eigvec_derivs}, {"vectors", vectors}});
  if (left && !right) out.pop_back();
  return out;
}

std::pair<Array, Array> eigh(const Operand& x, const Eigh& options) {
  Site site(x);
  const Array a = hermitian("eigh", x, options.symmetrize_input);
  require_all("eigh", options.subset_by_index, a.shape(-1));
  if (options.implementation && *options.implementation != EighImplementation::QR)
    fail("eigh", "that implementation is not one of CPUs");
  const std::vector<Array> out = internal::factors("strata.eigh", {options.lower ? a : adjoint(a)});
  return {out[0], out[1]};
}

std::pair<Array, Array> hessenberg(const Operand& a) {
  Site site(a);
  const std::vector<Array> out =
      internal::factors("strata.hessenberg", {matrices("hessenberg", a, true)});
  return {out[0], out[1]};
}

Array householder_product(const Operand& a, const Operand& taus) {
  Site site(a);
  return internal::factors("strata.householder_product",
                           {matrices("householder_product", a), taus})[0];
}

std::tuple<Array, Array, Array> lu(const Operand& x) {
  Site site(x);
  const std::vector<Array> out = internal::factors("strata.lu", {matrices("lu", x)});
  return {out[0], out[1], out[2]};
}

Array lu_pivots_to_permutation(const Operand& pivots, std::int64_t size) {
  Site site(pivots);
  const Array p = pivots;
  if (p.ndim() < 1 || p.dtype() != DType::i32 || p.shape(-1) > size)
    fail("lu_pivots_to_permutation", "i32 pivots, at most as many as {} rows, are taken, got {}",
         size, describe(p.type()));
  Ints shape = internal::sizes(p);
  shape.back() = size;
  const int last = p.ndim() - 1;
  const Array places = broadcasted_iota(DType::i32, shape, last);
  if (p.shape(-1) == 0 || size == 0) return places;
  return fori_loop(
      0, p.shape(-1),
      [&](Array i, Array permutation) {
        const Array j = dynamic_slice_in_dim(p, i, 1, last),
                    at_i = dynamic_slice_in_dim(permutation, i, 1, last),
                    at_j = take_along_axis(permutation, j, last, {.mode = "promise_in_bounds"});
        return where(places == j, at_i, where(places == i, at_j, permutation));
      },
      places);
}

Array ormqr(const Operand& a, const Operand& taus, const Operand& c, Ormqr options) {
  Site site(a);
  const Array reflectors = matrices("ormqr", a), x = matrices("ormqr", c);
  const std::int64_t m = reflectors.shape(-2), n = reflectors.shape(-1);
  if (!same(reflectors, x) || x.shape(options.left ? -2 : -1) != m || n > m)
    fail("ormqr", "reflectors {} do not go with {}", describe(reflectors.type()),
         describe(x.type()));
  std::vector<PadWidth> widths(static_cast<std::size_t>(reflectors.ndim()));
  widths.back().after = m - n;
  Array q = householder_product(numpy::pad(reflectors, widths), taus);
  if (options.transpose) q = adjoint(q);
  return options.left ? matmul(q, x) : matmul(x, q);
}

std::vector<Array> qr(const Operand& x, Qr options) {
  Site site(x);
  return internal::factors(
      "strata.qr", {matrices("qr", x)},
      {{"full_matrices", options.full_matrices}, {"pivoting", options.pivoting}});
}

std::vector<Array> schur(const Operand& x, Schur options) {
  Site site(x);
  std::vector<Array> out = internal::factors("strata.schur", {matrices("schur", x, true)});
  if (!options.compute_schur_vectors) out.pop_back();
  return out;
}

std::vector<Array> svd(const Operand& x, const Svd& options) {
  Site site(x);
  const Array a = matrices("svd", x);
  require_all("svd", options.subset_by_index, std::min(a.shape(-2), a.shape(-1)));
  if (options.algorithm == SvdAlgorithm::JACOBI || options.algorithm == SvdAlgorithm::POLAR)
    fail("svd", "that algorithm is not one of CPUs");
  const std::vector<Array> out = internal::factors(
      "strata.svd", {a},
      {{"compute_uv", options.compute_uv}, {"full_matrices", options.full_matrices}});
  if (!options.compute_uv) return out;
  return {out[1], out[0], out[2]};
}

Array symmetric_product(const Operand& a_matrix, const Operand& c_matrix,
                        SymmetricProduct options) {
  Site site(a_matrix);
  const Array a = matrices("symmetric_product", a_matrix),
              c = matrices("symmetric_product", c_matrix, true);
  if (!same(a, c) || a.shape(-2) != c.shape(-1))
    fail("symmetric_product", "the product of {} with itself does not go with {}",
         describe(a.type()), describe(c.type()));
  const Array out =
      internal::number_like(a, options.alpha) * matmul(a, numpy::matrix_transpose(a)) +
      internal::number_like(c, options.beta) * c;
  return options.symmetrize_output
             ? numpy::tril(out) + numpy::matrix_transpose(numpy::tril(out, -1))
             : out;
}

Array triangular_solve(const Operand& a_operand, const Operand& b_operand,
                       TriangularSolve options) {
  Site site(a_operand);
  const Array a = matrices("triangular_solve", a_operand, true);
  const bool vector = b_operand->ndim() == a.ndim() - 1;
  const int added = options.left_side ? -1 : -2;
  const Array b =
      matrices("triangular_solve", vector ? numpy::expand_dims(b_operand, added) : b_operand.array);
  if (!same(a, b) || b.shape(options.left_side ? -2 : -1) != a.shape(-1))
    fail("triangular_solve", "{} and {} do not make a system", describe(a.type()),
         describe(b_operand->type()));
  const bool conjugate = options.conjugate_a && is_complex(a.dtype());
  const char* how = !options.transpose_a ? "NO_TRANSPOSE" : conjugate ? "ADJOINT" : "TRANSPOSE";
  const Array matrix = conjugate && !options.transpose_a ? numpy::conj(a) : a;
  const Array x = internal::factors("stablehlo.triangular_solve", {matrix, b},
                                    {{"left_side", options.left_side},
                                     {"lower", options.lower},
                                     {"unit_diagonal", options.unit_diagonal},
                                     {"transpose_a", std::string(how)}})[0];
  return vector ? numpy::squeeze(x, added) : x;
}

std::tuple<Array, Array, Array, Array> tridiagonal(const Operand& a, Tridiagonal options) {
  Site site(a);
  const std::vector<Array> out = internal::factors(
      "strata.tridiagonal", {matrices("tridiagonal", a, true)}, {{"lower", options.lower}});
  return {out[0], out[1], out[2], out[3]};
}

Array tridiagonal_solve(const Operand& dl, const Operand& d, const Operand& du, const Operand& b) {
  Site site(dl);
  return internal::factors("strata.tridiagonal_solve",
                           {dl, d, du, matrices("tridiagonal_solve", b)})[0];
}

}  // namespace strata::lax::linalg
