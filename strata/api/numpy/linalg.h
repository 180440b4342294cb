// jax.numpy.linalg: matrices are the last two dimensions of arrays, those before them a batch.
// Integers are taken as floats.
//
//   solve(a, b)   eigh(a).eigenvalues   svd(a, {.full_matrices = false})   norm(x, {.ord = 1, .axis
//   = {0, 1}})
//
// Factors are unique only up to signs or phases, which may differ from JAX's. Computed in f64 and
// rounded once. Errors name the shapes.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "strata/api/array.h"
#include "strata/api/numpy/products.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/tree/fields.h"

namespace strata::numpy::linalg {

// ---- factors -----------------------------------------------------------------------------------
struct Cholesky {
  internal::Named named = internal::Named();
  bool upper = false, symmetrize_input = true;
};
/// L of a = L L^H, or U of U^H U. NaN where `a` is not positive definite.
Array cholesky(const Operand& a, Cholesky options = {});

struct [[nodiscard]] QRResult {
  Array Q, R;
  STRATA_FIELDS(Q, R)
};
/// "reduced" (or "full", which upstream takes for it), "complete", "r": Q has no value; "raw":
/// reflectors (transposed) and their factors.
QRResult qr(const Operand& a, const std::string& mode = "reduced");

struct [[nodiscard]] SVDResult {
  Array U, S, Vh;
  STRATA_FIELDS(U, S, Vh)
};
struct Svd {
  internal::Named named = internal::Named();
  /// Without `compute_uv` U and Vh have no values. `hermitian`: by eigenvalues, of a matrix that
  /// is.
  bool full_matrices = true, compute_uv = true, hermitian = false;
};
/// U, s in decreasing order, V^H: a = U diag(s) V^H for matrices [..., m, n]; s alone without
/// `compute_uv`.
SVDResult svd(const Operand& a, const Svd& options = {});
/// In descending order.
Array svdvals(const Operand& x);

struct [[nodiscard]] EigResult {
  Array eigenvalues, eigenvectors;
  STRATA_FIELDS(eigenvalues, eigenvectors)
};
/// Complex; the eigenvectors, columns, have no derivatives, as in JAX.
EigResult eig(const Operand& a);
/// The eigenvalues of matrices [..., n, n], complex.
Array eigvals(const Operand& a);

struct [[nodiscard]] EighResult {
  Array eigenvalues, eigenvectors;
  STRATA_FIELDS(eigenvalues, eigenvectors)
};
/// Of Hermitian matrices, in ascending order. UPLO ("L" or "U") is the triangle that is read where
/// the input is not symmetrised.
EighResult eigh(const Operand& a, const std::string& UPLO = "L", bool symmetrize_input = true);
/// The eigenvalues of symmetric or Hermitian matrices [..., n, n], real and increasing.
Array eigvalsh(const Operand& a, const std::string& UPLO = "L", bool symmetrize_input = true);

// ---- systems -----------------------------------------------------------------------------------
/// x of a x = b: b is one vector, or matrices; batches broadcast. A singular matrix gives
/// infinities and NaN.
Array solve(const Operand& a, const Operand& b);
/// The inverse of matrices [..., n, n]; not finite where there is none.
Array inv(const Operand& a);
struct Pinv {
  internal::Named named = internal::Named();
  /// Singular values up to so many times the greatest count as 0; 10 max(m, n) eps where left out.
  std::optional<Array> rtol = std::nullopt;
  bool hermitian = false;
};
/// Moore and Penrose's inverse.
Array pinv(const Operand& a, const Pinv& options = {});
struct [[nodiscard]] LstsqResult {
  Array x, residuals, rank, s;
  STRATA_FIELDS(x, residuals, rank, s)
};
struct Lstsq {
  internal::Named named = internal::Named();
  std::optional<double> rcond = std::nullopt;
  /// No residuals where NumPy gives none: of fewer rows than columns, or of less than full rank,
  /// which must be known (not traced).
  bool numpy_resid = false;
};
/// x of the least |a x - b|, among these the shortest.
LstsqResult lstsq(const Operand& a, const Operand& b, const Lstsq& options = {});
/// x of tensordot(a, x, x.ndim) = b; and the inverse of a under tensordot(.., ind).
Array tensorsolve(const Operand& a, const Operand& b, const OptionalSizes& axes = {});
/// The inverse of a as a linear map from its last axes to the first `ind`.
Array tensorinv(const Operand& a, std::int64_t ind = 2);

// ---- numbers -----------------------------------------------------------------------------------
/// Has a derivative where a is singular too (determinant.cc); the second one there is NaN, as
/// upstream.
Array det(const Operand& a);
struct [[nodiscard]] SlogdetResult {
  Array sign, logabsdet;
  STRATA_FIELDS(sign, logabsdet)
};
/// det = sign exp(logabsdet). method: "lu" or, of real matrices, "qr".
SlogdetResult slogdet(const Operand& a, const std::string& method = "lu");
struct MatrixRank {
  internal::Named named = internal::Named();
  std::optional<Array> rtol = std::nullopt;
  bool hermitian = false;
};
/// Singular values above rtol (of the greatest times max(m, n) eps where left out), i32. As
/// upstream, a given rtol is absolute.
Array matrix_rank(const Operand& M, const MatrixRank& options = {});
/// Products of n factors a; of inverses where n is negative.
Array matrix_power(const Operand& a, std::int64_t n);

/// "fro" "nuc", 1, -1, 2, -2, inf, -inf of matrices; any number of vectors.
class Order {
 public:
  Order(const char* name) : order_(std::string(name)) {}  // NOLINT
  Order(std::string name) : order_(std::move(name)) {}    // NOLINT
  template <class T>
    requires std::is_arithmetic_v<T>
  Order(T order) : order_(static_cast<double>(order)) {}  // NOLINT
  /// Whether the norm's order is this one.
  template <class T>
    requires std::is_arithmetic_v<T>
  bool is(T order) const {
    return std::holds_alternative<double>(order_) &&
           std::get<double>(order_) == static_cast<double>(order);
  }
  bool is(const char* name) const {
    return std::holds_alternative<std::string>(order_) && std::get<std::string>(order_) == name;
  }
  /// The order, where it is a number.
  std::optional<double> number() const {
    return std::holds_alternative<double>(order_) ? std::optional(std::get<double>(order_))
                                                  : std::nullopt;
  }
  /// The order as users write it.
  std::string text() const;

 private:
  std::variant<double, std::string> order_;
};
struct Norm {
  internal::Named named = internal::Named();
  std::optional<Order> ord = std::nullopt;
  Axes axis = {};
  bool keepdims = false;
};
/// Of vectors along one axis, of matrices over two; the root of the sum of squares of all elements
/// without `ord` and `axis`.
Array norm(const Operand& x, const Norm& options = {});
struct MatrixNorm {
  internal::Named named = internal::Named();
  bool keepdims = false;
  Order ord = "fro";
};
/// Norms of matrices, the last two axes: Frobenius's unless `ord` says otherwise.
Array matrix_norm(const Operand& x, const MatrixNorm& options = {});
struct VectorNorm {
  internal::Named named = internal::Named();
  Axes axis = {};
  bool keepdims = false;
  Order ord = 2;
};
/// Over all given axes together.
Array vector_norm(const Operand& x, const VectorNorm& options = {});
/// norm(x) norm(inv(x)); by singular values for 2 (where left out) and -2.
Array cond(const Operand& x, const std::optional<Order>& p = {});

// ---- products, and what numpy has too ----------------------------------------------------------
using numpy::matmul;
using numpy::matrix_transpose;
using numpy::tensordot;
using numpy::vecdot;
/// Of two vectors.
Array outer(const Operand& x1, const Operand& x2);
/// Of vectors of three.
Array cross(const Operand& x1, const Operand& x2, std::int64_t axis = -1);
/// The product in the order of the fewest multiplications; the first and the last may be vectors.
Array multi_dot(const std::vector<Array>& arrays, Where where = Where::current());
/// Of the last two dimensions.
Array diagonal(const Operand& x, std::int64_t offset = 0);
/// The sum of the diagonal of the last two axes.
Array trace(const Operand& x, std::int64_t offset = 0, std::optional<DType> dtype = {});

}  // namespace strata::numpy::linalg
