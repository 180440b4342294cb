// jax.scipy.linalg: Schur's form, functions of matrices, and equations that are solved by them.
// Part of scipy/linalg.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "strata/api/array.h"
#include "strata/api/numpy/linalg.h"

namespace strata::scipy::linalg {

// ---- schur.cc ----------------------------------------------------------------------------------
struct [[nodiscard]] SchurResult {
  Array T, Z;
  STRATA_FIELDS(T, Z)
};
/// a = Z T Z^H, Z unitary. T is triangular where `a` is complex or output "complex"; of real
/// matrices, with output "real", it has blocks of two rows on its diagonal for pairs of conjugate
/// eigenvalues. Integers only with output "complex". No derivative, as upstream.
SchurResult schur(const Operand& a, const std::string& output = "real");
/// The triangular form of a real Schur form, by one rotation for each block of two (as upstream);
/// batches broadcast.
SchurResult rsf2csf(const Operand& T, const Operand& Z);

/// The principal square root of one matrix, complex: Bjorck and Hammarling, "A Schur method for the
/// square root of a matrix", 1983. No derivative, as upstream; its blocksize, which is 1, is left
/// out.
Array sqrtm(const Operand& A);
/// func of one matrix, complex; func is given the eigenvalues. By Parlett's recurrence (Golub and
/// Van Loan, algorithm 11.1.1), which loses what eigenvalues have in common; no derivative, as
/// upstream.
Array funm(const Operand& A, const std::function<Array(Array)>& func);
/// `funm` with an estimate of its error (upstream's disp=False), which depends on the order of
/// eigenvalues in Schur's form.
[[nodiscard]] std::pair<Array, Array> funm_with_error(const Operand& A,
                                                      const std::function<Array(Array)>& func);

struct SolveSylvester {
  internal::Named named = internal::Named();
  /// "schur" (Bartels and Stewart), or "eigen", which is less accurate where eigenvectors are
  /// nearly dependent.
  std::string method = "schur";
  /// NaN where an eigenvalue of A and one of B have a smaller sum.
  double tol = 1e-8;
};
/// X of A X + X B = C; batches broadcast. Eigenvalues for `tol` are those of the method, where
/// upstream computes them again. No derivative, as upstream.
Array solve_sylvester(const Operand& A, const Operand& B, const Operand& C,
                      const SolveSylvester& options = {});

// ---- factored_forms.cc -------------------------------------------------------------------------
/// expm(A) and its derivative in the direction of E: floats of one type and shape. Only the second
/// without `compute_expm`.
[[nodiscard]] std::pair<Array, Array> expm_frechet(const Operand& A, const Operand& E,
                                                   bool compute_expm = true);

struct Polar {
  internal::Named named = internal::Named();
  /// "qdwh" (at least as many rows as columns on the right side, fewer on the left), or "svd".
  std::string method = "qdwh";
  std::optional<double> eps = std::nullopt;
  std::optional<std::int64_t> max_iterations = std::nullopt;
};
/// u and p of a = u p (side "right") or p u ("left"): u has orthonormal columns or rows, p is
/// positive semidefinite. (Upstream does not hand max_iterations on; here it counts.)
[[nodiscard]] std::pair<Array, Array> polar(const Operand& a, const std::string& side = "right",
                                            const Polar& options = {});

struct QrMultiply {
  internal::Named named = internal::Named();
  /// "right": c Q; "left": Q c.
  std::string mode = "right";
  bool pivoting = false;
  /// Q's elements are conjugated.
  bool conjugate = false;
};
struct [[nodiscard]] QrMultiplyResult {
  /// P (i32) only where `pivoting`.
  Array CQ, R, P;
  STRATA_FIELDS(CQ, R, P)
};
/// The product of c with Q of a = Q R, which has min(m, n) columns; and R. A vector c gives a
/// vector; batches broadcast.
QrMultiplyResult qr_multiply(const Operand& a, const Operand& c, const QrMultiply& options = {});

// ---- eigh_tridiagonal.cc -----------------------------------------------------------------------
struct EighTridiagonal {
  internal::Named named = internal::Named();
  /// Then eigenvectors have no value.
  bool eigvals_only = false;
  /// "a": all; "i": those numbered `select_range`, both ends included.
  std::string select = "a";
  std::optional<std::pair<std::int64_t, std::int64_t>> select_range = std::nullopt;
  /// How near eigenvalues come to theirs where nothing else is asked: eps times the norm at best.
  std::optional<double> tol = std::nullopt;
};
/// Eigenvalues, ascending, and eigenvectors of one Hermitian tridiagonal matrix, d on its diagonal
/// and e above: f32, f64, c64, c128 of one dtype. Eigenvalues alone by bisection with Sturm's
/// count, as upstream; their derivative is v^H dT v. Eigenvectors are eigh's of the whole matrix,
/// orthogonal to rounding, where upstream iterates from random vectors; so there is no `key`.
numpy::linalg::EighResult eigh_tridiagonal(const Operand& d, const Operand& e,
                                           const EighTridiagonal& options = {});

}  // namespace strata::scipy::linalg
