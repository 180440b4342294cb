// Factors and systems; norms, determinants and products stand in linalg_numbers.cc.
#include "strata/api/numpy/linalg.h"

#include <algorithm>

#include "strata/api/index.h"
#include "strata/api/lax/linalg.h"
#include "strata/api/matrices.h"
#include "strata/api/numpy/elementwise.h"
#include "strata/api/numpy/index/indexing.h"
#include "strata/api/numpy/index/sorting.h"
#include "strata/api/numpy/products.h"
#include "strata/api/numpy/reductions.h"
#include "strata/api/numpy/shape/creation.h"
#include "strata/api/numpy/shape/manipulation.h"
#include "strata/api/operators.h"

namespace strata::numpy::linalg {
namespace {

using internal::adjoint;
using internal::describe;
using internal::fail;
using internal::Ints;
using internal::number_like;
using internal::promoted_inexact;
using internal::require_matrices;
using internal::Site;
using internal::strong_inexact;
using internal::strong_number;
namespace ll = lax::linalg;

bool is_lower(const char* name, const std::string& uplo) {
  if (uplo != "L" && uplo != "U") fail(name, "UPLO is \"L\" or \"U\", got \"{}\"", uplo);
  return uplo == "L";
}

/// Of Hermitian matrices by eigenvalues: singular values are their sizes, in descending order.
SVDResult hermitian_svd(const Array& a, bool vectors) {
  const auto [v, w] = ll::eigh(a);
  const Array order = argsort(abs(w), {.axis = -1, .descending = true});
  const Array sorted = take_along_axis(w, order, -1, {.mode = "promise_in_bounds"});
  SVDResult out{.S = abs(sorted)};
  if (!vectors) return out;
  out.U = take_along_axis(v, expand_dims(order, -2), -1, {.mode = "promise_in_bounds"});
  out.Vh = adjoint(out.U * astype(expand_dims(sign(sorted), -2), a.dtype()));
  return out;
}

/// Right hand sides of all of b's batch side by side, of one matrix.
Array solve_one_matrix(const Array& a, const Array& b) {
  const Array front = moveaxis(b, -2, 0);
  const Array x = internal::factors("strata.solve", {a, reshape(front, {b.shape(-2), -1})},
                                    {{"transpose", false}})[0];
  return moveaxis(reshape(x, front.shape()), 0, -2);
}

Array solve_matrices(const char* name, const Array& a, const Array& b) {
  if (a.shape(-1) != b.shape(-2))
    fail(name, "{} and {} do not make a system", describe(a.type()), describe(b.type()));
  if (a.ndim() == 2 && b.ndim() > 2 && b.size() > 0) return solve_one_matrix(a, b);
  const Array both[] = {a, b};
  const Ints batch = internal::common_batch(name, both);
  return internal::factors("strata.solve",
                           {internal::with_batch(a, batch), internal::with_batch(b, batch)},
                           {{"transpose", false}})[0];
}

/// 1 / s of singular values that count, 0 of the others.
Array inverse_of(const Array& s, const Array& counts, DType dtype) {
  return where(counts, astype(1 / where(counts, s, 1), dtype), strong_number(astype(s, dtype), 0));
}

}  // namespace

Array cholesky(const Operand& a, Cholesky options) {
  Site site(a);
  const Array l = ll::cholesky(strong_inexact(a), {.symmetrize_input = options.symmetrize_input});
  return options.upper ? adjoint(l) : l;
}

QRResult qr(const Operand& operand, const std::string& mode) {
  Site site(operand);
  const Array a = strong_inexact(operand);
  require_matrices("qr", a);
  if (mode == "raw") {
    const std::vector<Array> out = internal::factors("strata.geqrf", {a});
    return {matrix_transpose(out[0]), out[1]};
  }
  if (mode != "reduced" && mode != "r" && mode != "full" && mode != "complete")
    fail("qr", "there is no mode \"{}\"", mode);
  const std::vector<Array> out = ll::qr(a, {.full_matrices = mode == "complete"});
  return {mode == "r" ? Array() : out[0], out[1]};
}

SVDResult svd(const Operand& operand, const Svd& o) {
  Site site(operand);
  const Array a = strong_inexact(operand);
  if (o.hermitian) return hermitian_svd(a, o.compute_uv);
  const std::vector<Array> out =
      ll::svd(a, {.full_matrices = o.full_matrices, .compute_uv = o.compute_uv});
  if (!o.compute_uv) return {.S = out[0]};
  return {out[0], out[1], out[2]};
}
Array svdvals(const Operand& x) {
  Site site(x);
  return svd(x, {.compute_uv = false}).S;
}

EigResult eig(const Operand& a) {
  Site site(a);
  const std::vector<Array> out = ll::eig(strong_inexact(a), {.compute_left_eigenvectors = false});
  return {out[0], out[1]};
}
Array eigvals(const Operand& a) {
  Site site(a);
  return ll::eig(strong_inexact(a),
                 {.compute_left_eigenvectors = false, .compute_right_eigenvectors = false})[0];
}
EighResult eigh(const Operand& a, const std::string& uplo, bool symmetrize_input) {
  Site site(a);
  const auto [v, w] = ll::eigh(
      strong_inexact(a), {.lower = is_lower("eigh", uplo), .symmetrize_input = symmetrize_input});
  return {w, v};
}
Array eigvalsh(const Operand& a, const std::string& uplo, bool symmetrize_input) {
  Site site(a);
  return eigh(a, uplo, symmetrize_input).eigenvalues;
}

Array solve(const Operand& a_operand, const Operand& b_operand) {
  Site site(a_operand);
  const std::vector<Array> both = promoted_inexact("solve", {a_operand, b_operand});
  const Array &a = both[0], &b = both[1];
  require_matrices("solve", a, true);
  if (b.ndim() == 0)
    fail("solve", "right hand sides are vectors or matrices, got {}", describe(b.type()));
  // NumPy 1 took these for a batch of vectors.
  if (b.ndim() > 1 && a.ndim() == b.ndim() + 1 && a.shape(-1) == b.shape(-1) &&
      a.shape(-1) != b.shape(-2))
    fail("solve", "{} and {}: give a batch of vectors as matrices of one column",
         describe(a.type()), describe(b.type()));
  if (b.ndim() > 1) return solve_matrices("solve", a, b);
  return squeeze(solve_matrices("solve", a, expand_dims(b, -1)), -1);
}

Array inv(const Operand& operand) {
  Site site(operand);
  const Array a = strong_inexact(operand);
  require_matrices("inv", a, true);
  return solve(a, broadcast_to(eye(a.shape(-1), {}, 0, a.dtype()), a.shape()));
}

Array pinv(const Operand& operand, const Pinv& o) {
  Site site(operand);
  const Array a = strong_inexact(operand);
  require_matrices("pinv", a);
  if (a.size() == 0) return zeros_like(matrix_transpose(a));
  const SVDResult f = svd(a, {.full_matrices = false, .hermitian = o.hermitian});
  const Array rtol =
      o.rtol ? astype(*o.rtol, f.S.dtype())
             : strong_number(f.S, 10 * static_cast<double>(std::max(a.shape(-2), a.shape(-1))) *
                                      internal::epsilon_of(a.dtype()));
  const Array greatest = max(f.S, {.axis = -1, .keepdims = true});
  const Array s = inverse_of(
      f.S, f.S > (rtol.ndim() == 0 ? rtol : expand_dims(rtol, -1)) * greatest, a.dtype());
  return matmul(adjoint(f.Vh) * expand_dims(s, -2), adjoint(f.U));
}

LstsqResult lstsq(const Operand& a_operand, const Operand& b_operand, const Lstsq& o) {
  Site site(a_operand);
  const std::vector<Array> both = promoted_inexact("lstsq", {a_operand, b_operand});
  const Array &a = both[0], &given = both[1];
  if (a.ndim() != 2 || given.ndim() < 1 || given.ndim() > 2 || a.shape(0) != given.shape(0))
    fail("lstsq", "a matrix and right hand sides of as many rows are taken, got {} and {}",
         describe(a.type()), describe(given.type()));
  const Array b = given.ndim() == 1 ? expand_dims(given, 1) : given;
  const std::int64_t m = a.shape(0), n = a.shape(1);
  LstsqResult out{.x = zeros({n, b.shape(1)}, a.dtype()),
                  .rank = Array(0).astype(int32),
                  .s = zeros({0}, a.dtype())};
  if (a.size() > 0) {
    const SVDResult f = svd(a, {.full_matrices = false});
    const double eps = internal::epsilon_of(a.dtype());
    const double rcond = !o.rcond       ? eps * static_cast<double>(std::max(m, n))
                         : *o.rcond < 0 ? eps
                                        : *o.rcond;
    const Array counts = (f.S > 0) & (f.S >= strong_number(f.S, rcond) * f.S[{0}]);
    out = {.x = matmul(adjoint(f.Vh), expand_dims(inverse_of(f.S, counts, a.dtype()), -1) *
                                          matmul(adjoint(f.U), b)),
           .rank = sum(counts),
           .s = f.S};
  }
  if (o.numpy_resid && (m <= n || out.rank.item<std::int64_t>() < n))
    out.residuals = zeros({0});
  else
    out.residuals = square(norm(b - matmul(a, out.x), {.axis = 0}));
  if (given.ndim() == 1) out.x = ravel(out.x);
  return out;
}

Array tensorsolve(const Operand& a_operand, const Operand& b_operand, const OptionalSizes& axes) {
  Site site(a_operand);
  Array a = a_operand;
  const Array b = b_operand;
  if (axes) {
    // Behind the others, in ascending order.
    const Ints moved = internal::axes_of("tensorsolve", axes->get(), a.ndim());
    Ints order;
    for (std::int64_t i = 0; i < a.ndim(); ++i)
      if (std::find(moved.begin(), moved.end(), i) == moved.end()) order.push_back(i);
    order.insert(order.end(), moved.begin(), moved.end());
    a = transpose(a, order);
  }
  const Ints all = internal::sizes(a), lead = internal::sizes(b);
  if (all.size() < lead.size() || !std::equal(lead.begin(), lead.end(), all.begin()))
    fail("tensorsolve", "{} does not begin with the sizes of {}", describe(a.type()),
         describe(b.type()));
  const Ints result(all.begin() + static_cast<std::ptrdiff_t>(lead.size()), all.end());
  if (Shape::of(result).count() != b.size())
    fail("tensorsolve", "{} is not square beside {}", describe(a.type()), describe(b.type()));
  return reshape(solve(reshape(a, {b.size(), b.size()}), ravel(b)), result);
}

Array tensorinv(const Operand& operand, std::int64_t ind) {
  Site site(operand);
  const Array a = operand;
  if (ind <= 0) fail("tensorinv", "ind is positive, got {}", ind);
  const Ints all = internal::sizes(a);
  const auto middle = all.begin() + std::min<std::ptrdiff_t>(ind, a.ndim());
  Ints rows(all.begin(), middle), result(middle, all.end());
  const std::int64_t count = Shape::of(rows).count();
  if (Shape::of(result).count() != count)
    fail("tensorinv", "{} is not square after {} dimensions", describe(a.type()), ind);
  result.insert(result.end(), rows.begin(), rows.end());
  return reshape(inv(reshape(a, {count, count})), result);
}

}  // namespace strata::numpy::linalg
