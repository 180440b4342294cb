// jax.lax.linalg: factorisations of matrices, the last two dimensions; those before them are a
// batch. Nothing is promoted: operands are floats or complex numbers (f32, f64, c64, c128; most
// take bf16 and f16 too, computed wider and rounded). Errors: integers, matrices that are not
// square where they must be, shapes that do not fit.
//
// All have derivatives where JAX states some. Factors are unique only up to signs or phases; these
// may differ from JAX's.
#pragma once

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "strata/api/array.h"

namespace strata::lax::linalg {

struct Cholesky {
  internal::Named named = internal::Named();
  /// (x + x^H) / 2 is factored; without it the lower triangle counts.
  bool symmetrize_input = true;
};
/// L of x = L L^H, zero above the diagonal; NaN where x is not positive definite.
Array cholesky(const Operand& x, Cholesky options = {});
/// The upper factor of R^T R + w w^T, of the upper factor R; one real matrix and one vector.
Array cholesky_update(const Operand& r_matrix, const Operand& w_vector);

/// Which implementation JAX takes. Here there is one of each; those that JAX refuses on a CPU are
/// errors.
enum class EigImplementation { CUSOLVER, MAGMA, LAPACK };
/// How `eigh` works upstream; here all are LAPACK's.
enum class EighImplementation { QR, JACOBI, QDWH };
/// How `svd` works upstream; here all are LAPACK's.
enum class SvdAlgorithm { DEFAULT, QR, JACOBI, POLAR, DIVIDE_AND_CONQUER };

struct Eig {
  internal::Named named = internal::Named();
  bool compute_left_eigenvectors = true, compute_right_eigenvectors = true;
  /// Whether eigenvectors have derivatives: of distinct eigenvalues, normalised as they are here.
  bool enable_eigvec_derivs = false;
  std::optional<EigImplementation> implementation = std::nullopt;
};
/// Eigenvalues, then left and right eigenvectors (columns) where asked; all complex. f32, f64 and
/// complex.
[[nodiscard]] std::vector<Array> eig(const Operand& x, const Eig& options = {});

struct Eigh {
  internal::Named named = internal::Named();
  bool lower = true, symmetrize_input = true;
  /// In ascending order; they are whatever this says, as on JAX's CPU.
  bool sort_eigenvalues = true;
  /// Only all of them, {0, n}: anything else is an error, as on JAX's CPU.
  std::optional<std::pair<std::int64_t, std::int64_t>> subset_by_index = std::nullopt;
  std::optional<EighImplementation> implementation = std::nullopt;
};
/// Eigenvectors (columns) and eigenvalues of Hermitian matrices.
[[nodiscard]] std::pair<Array, Array> eigh(const Operand& x, const Eigh& options = {});

/// Hessenberg's form on and above the first subdiagonal and reflectors below it, with their
/// factors. No derivative.
[[nodiscard]] std::pair<Array, Array> hessenberg(const Operand& a);
/// The first columns of the product of reflectors, H_1 H_2 ... (LAPACK, orgqr). No derivative.
Array householder_product(const Operand& a, const Operand& taus);

/// L and U in one matrix, pivots (i32), and the permutation (i32): x[permutation] = L U.
[[nodiscard]] std::tuple<Array, Array, Array> lu(const Operand& x);
/// The permutation (i32) of so many rows that exchanges by pivots amount to.
Array lu_pivots_to_permutation(const Operand& pivots, std::int64_t permutation_size);

struct Ormqr {
  internal::Named named = internal::Named();
  bool left = true, transpose = false;
};
/// Q c or c Q, of Q^H where `transpose`; Q is given by reflectors.
Array ormqr(const Operand& a, const Operand& taus, const Operand& c, Ormqr options = {});

struct Qdwh {
  internal::Named named = internal::Named();
  bool is_hermitian = false;
  std::optional<std::int64_t> max_iterations = std::nullopt;
  std::optional<double> eps = std::nullopt;
};
/// The polar decomposition x = U H by Halley's iteration with dynamic weights (Nakatsukasa, Bai and
/// Gygi 2010): U, H, the number of iterations (i32) and whether they ended. One matrix, with at
/// least as many rows as columns.
[[nodiscard]] std::tuple<Array, Array, Array, Array> qdwh(const Operand& x,
                                                          const Qdwh& options = {});

struct Qr {
  internal::Named named = internal::Named();
  bool pivoting = false, full_matrices = true;
};
/// Q and R; where `pivoting` the permutation of columns (i32) too.
[[nodiscard]] std::vector<Array> qr(const Operand& x, Qr options = {});

struct Schur {
  internal::Named named = internal::Named();
  bool compute_schur_vectors = true;
};
/// T, and Q where asked: x = Q T Q^H. JAX's sorting of eigenvalues, which it refuses on a CPU, is
/// left out. No derivative.
[[nodiscard]] std::vector<Array> schur(const Operand& x, Schur options = {});

struct Svd {
  internal::Named named = internal::Named();
  bool full_matrices = true, compute_uv = true;
  /// Only all of them, {0, min(m, n)}, as on JAX's CPU.
  std::optional<std::pair<std::int64_t, std::int64_t>> subset_by_index = std::nullopt;
  std::optional<SvdAlgorithm> algorithm = std::nullopt;
};
/// U, s in descending order, V^H; only s without `compute_uv`.
[[nodiscard]] std::vector<Array> svd(const Operand& x, const Svd& options = {});

struct SymmetricProduct {
  internal::Named named = internal::Named();
  double alpha = 1, beta = 0;
  /// The upper triangle from the lower one.
  bool symmetrize_output = false;
};
/// alpha A A^T + beta C
Array symmetric_product(const Operand& a_matrix, const Operand& c_matrix,
                        SymmetricProduct options = {});

struct TriangularSolve {
  internal::Named named = internal::Named();
  bool left_side = false, lower = false, transpose_a = false, conjugate_a = false,
       unit_diagonal = false;
};
/// x of op(a) x = b where `left_side`, else of x op(a) = b; b may lack the dimension of the right
/// hand sides.
Array triangular_solve(const Operand& a, const Operand& b, TriangularSolve options = {});

struct Tridiagonal {
  internal::Named named = internal::Named();
  bool lower = true;
};
/// Hermitian matrices made tridiagonal: T with the reflectors, its diagonal, what stands beside it
/// (both real), factors of the reflectors.
[[nodiscard]] std::tuple<Array, Array, Array, Array> tridiagonal(const Operand& a,
                                                                 Tridiagonal options = {});
/// x of A x = b, A by its diagonals [..., n]; dl[0] and du[n - 1] are not read.
Array tridiagonal_solve(const Operand& dl, const Operand& d, const Operand& du, const Operand& b);

}  // namespace strata::lax::linalg
