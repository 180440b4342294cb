// jax.scipy.linalg. Integers are taken as floats; the last two dimensions are matrices, those
// before them a batch. Upstream's flags that change nothing there (overwrite_a, check_finite,
// turbo) are left out.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "strata/api/array.h"
#include "strata/api/numpy/linalg.h"
#include "strata/api/scipy/matrix_functions.h"

namespace strata::scipy::linalg {

// ---- factors and systems -----------------------------------------------------------------------
using numpy::linalg::det;
using numpy::linalg::inv;
/// U of a = U^H U, or L of L L^H.
Array cholesky(const Operand& a, bool lower = false);
/// Cholesky's factor, and whether it is the lower one, for cho_solve.
[[nodiscard]] std::pair<Array, bool> cho_factor(const Operand& a, bool lower = false);
/// x of a x = b. b: a vector, matrices, or vectors of a's batch.
Array cho_solve(const std::pair<Array, bool>& c_and_lower, const Operand& b);

/// Eigenvalues in ascending order and eigenvectors of Hermitian matrices.
numpy::linalg::EighResult eigh(const Operand& a, bool lower = true);

/// H of a = Q H Q^H, zero below the first subdiagonal; and Q.
Array hessenberg(const Operand& a);
/// H, zero below the first subdiagonal, and unitary Q: a = Q H Q^H.
[[nodiscard]] std::pair<Array, Array> hessenberg_with_q(const Operand& a);

struct [[nodiscard]] LuResult {
  /// Without a value where `permute_l`, which makes L of P L.
  Array P, L, U;
  STRATA_FIELDS(P, L, U)
};
/// a = P L U
LuResult lu(const Operand& a, bool permute_l = false);
/// The factors L and U in one matrix, and pivots (i32), for lu_solve; `trans`: 0 solves a x = b, 1
/// a^T x = b, 2 a^H x = b.
[[nodiscard]] std::pair<Array, Array> lu_factor(const Operand& a);
/// x of A x = b from what lu_factor gave for A; of A^T, A^H where `trans` is 1, 2.
Array lu_solve(const std::pair<Array, Array>& lu_and_piv, const Operand& b, int trans = 0);

struct [[nodiscard]] QrResult {
  /// Q has no value in mode "r", P (i32) only where `pivoting`.
  Array Q, R, P;
  STRATA_FIELDS(Q, R, P)
};
/// mode: "full", "economic", "r".
QrResult qr(const Operand& a, const std::string& mode = "full", bool pivoting = false);
/// U, s in decreasing order, V^H: a = U diag(s) V^H.
numpy::linalg::SVDResult svd(const Operand& a, bool full_matrices = true, bool compute_uv = true);

/// assume_a: "gen", "sym", "her", or "pos": positive definite, of which one triangle is read.
struct Solve {
  internal::Named named = internal::Named();
  bool lower = false;
  std::string assume_a = "gen";
};
/// x of a x = b for square a, by Cholesky's factors where `assume_a` is "pos".
Array solve(const Operand& a, const Operand& b, const Solve& options = {});
struct SolveTriangular {
  internal::Named named = internal::Named();
  /// 0: a x = b, 1: a^T x = b, 2: a^H x = b.
  int trans = 0;
  bool lower = false, unit_diagonal = false;
};
/// x of a x = b for triangular a, of a^T or a^H where `trans` says so.
Array solve_triangular(const Operand& a, const Operand& b, const SolveTriangular& options = {});

/// The exponential by Pade's approximation with scaling and squaring (Higham 2005), as upstream;
/// NaN beyond so many squarings.
struct Expm {
  internal::Named named = internal::Named();
  bool upper_triangular = false;
  std::int64_t max_squarings = 16;
};
/// The exponential of square matrices, by scaling and squaring.
Array expm(const Operand& A, const Expm& options = {});

// ---- matrices of a pattern (special_matrices.cc) -----------------------------------------------
/// Blocks on the diagonal; vectors are rows.
Array block_diag(const std::vector<Array>& arrays, Where where = Where::current());
/// Constant along diagonals, given its first column and row (the column conjugated where left out).
Array toeplitz(const Operand& c, const std::optional<Array>& r = {});
/// Constant along anti-diagonals, given its first column and last row (zeros where left out).
Array hankel(const Operand& c, const std::optional<Array>& r = {});
/// Each column the one before it moved down by one.
Array circulant(const Operand& c);
/// The companion matrix of the polynomial with these coefficients, the highest first.
Array companion(const Operand& a);
/// |a_i - a_j|
Array fiedler(const Operand& a);
/// The companion matrix of a polynomial by Fiedler (2003): zero outside of five diagonals. The
/// first coefficient is not 0; inf and NaN where it is.
Array fiedler_companion(const Operand& a);
/// convolution_matrix(a, n, mode) v = convolve(a, v, mode); mode: "full", "same", "valid".
Array convolution_matrix(const Operand& a, std::int64_t n, const std::string& mode = "full");
/// Leslie's matrix of fecundities and survival rates.
Array leslie(const Operand& f, const Operand& s);
/// 1 / (i + j + 1)
Array hilbert(std::int64_t n, Where where = Where::current());
/// The inverse of Hilbert's matrix, of integers; each is rounded once, where upstream multiplies
/// rounded binomials.
Array invhilbert(std::int64_t n, Where where = Where::current());
/// Binomials: i over j ("lower"), its transpose ("upper"), i + j over i ("symmetric"). f32; each is
/// rounded once, upstream's are exp(lgamma).
Array pascal(std::int64_t n, const std::string& kind = "symmetric", Where where = Where::current());
/// The inverse of the same, in the default dtype.
Array invpascal(std::int64_t n, const std::string& kind = "symmetric",
                Where where = Where::current());
/// Of ones and minus ones, n a power of 2.
Array hadamard(std::int64_t n, DType dtype = default_int, Where where = Where::current());
/// Orthonormal rows; without the first one unless `full`.
Array helmert(std::int64_t n, bool full = false, Where where = Where::current());
/// The discrete Fourier transform; scale: none, "sqrtn" or "n".
Array dft(std::int64_t n, const std::optional<std::string>& scale = {},
          std::optional<DType> dtype = {}, Where where = Where::current());

}  // namespace strata::scipy::linalg
