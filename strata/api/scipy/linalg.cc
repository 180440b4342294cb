#include "strata/api/scipy/linalg.h"

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/lax/linalg.h"
#include "strata/api/matrices.h"

namespace strata::scipy::linalg {
namespace {

using internal::describe;
using internal::fail;
using internal::Ints;
using internal::promoted_inexact;
using internal::require_matrices;
using internal::Site;
using internal::strong_inexact;
using internal::strong_number;
namespace ll = lax::linalg;
namespace nl = numpy::linalg;

/// f of square matrices and right hand sides of one batch. One vector, or vectors of a's batch,
/// become matrices of one column.
template <class F>
Array systems(const char* name, const Array& a_given, const Array& b_given, F&& f) {
  const std::vector<Array> both = promoted_inexact(name, {a_given, b_given});
  const Array& a = both[0];
  require_matrices(name, a, true);
  const bool vector =
      both[1].ndim() == 1 || (a.ndim() == both[1].ndim() + 1 && a.shape(-1) == both[1].shape(-1));
  if (both[1].ndim() == 0)
    fail(name, "right hand sides are vectors or matrices, got {}", describe(both[1].type()));
  const Array b = vector ? expand_dims(both[1], -1) : both[1];
  if (a.shape(-1) != b.shape(-2))
    fail(name, "{} and {} do not make a system", describe(a.type()), describe(both[1].type()));
  const Array pair[] = {a, b};
  const Ints batch = internal::common_batch(name, pair);
  const Array x = f(internal::with_batch(a, batch), internal::with_batch(b, batch), batch);
  return vector ? squeeze(x, -1) : x;
}

Array triangular(const Array& a, const Array& b, bool lower, int trans, bool unit = false) {
  return ll::triangular_solve(a, b,
                              {.left_side = true,
                               .lower = lower,
                               .transpose_a = trans > 0,
                               .conjugate_a = trans == 2,
                               .unit_diagonal = unit});
}

/// Row i is row rows[i] of x.
Array rows_of(const Array& x, const Array& rows) {
  return take_along_axis(x, broadcast_to(expand_dims(rows, -1), x.shape()), -2,
                         {.mode = "promise_in_bounds"});
}

void require_trans(const char* name, int trans) {
  if (trans < 0 || trans > 2) fail(name, "trans is 0, 1 or 2, got {}", trans);
}

}  // namespace

Array cholesky(const Operand& a, bool lower) {
  Site site(a);
  return nl::cholesky(a, {.upper = !lower});
}
std::pair<Array, bool> cho_factor(const Operand& a, bool lower) {
  Site site(a);
  return {cholesky(a, lower), lower};
}

Array cho_solve(const std::pair<Array, bool>& factor, const Operand& b) {
  Site site(b);
  const bool lower = factor.second;
  return systems("cho_solve", factor.first, b, [&](const Array& c, const Array& rhs, const Ints&) {
    return triangular(c, triangular(c, rhs, lower, lower ? 0 : 2), lower, lower ? 2 : 0);
  });
}

nl::EighResult eigh(const Operand& a, bool lower) {
  Site site(a);
  return nl::eigh(a, lower ? "L" : "U");
}

Array hessenberg(const Operand& a) {
  Site site(a);
  require_matrices("hessenberg", a, true);
  return numpy::triu(ll::hessenberg(strong_inexact(a)).first, -1);
}

std::pair<Array, Array> hessenberg_with_q(const Operand& operand) {
  Site site(operand);
  const Array a = strong_inexact(operand);
  require_matrices("hessenberg", a, true);
  const auto [factors, taus] = ll::hessenberg(a);
  const std::int64_t n = a.shape(-1);
  if (n == 0) return {a, a};
  const Array reflectors = factors[{ellipsis, slice(1, none), slice(none, n - 1)}];
  std::vector<numpy::PadWidth> one(static_cast<std::size_t>(a.ndim()));
  one[one.size() - 1].before = one[one.size() - 2].before = 1;
  const Array first = astype(numpy::arange(n) == 0, a.dtype());
  const Array corner = expand_dims(first, 0) * expand_dims(first, 1);
  return {numpy::triu(factors, -1),
          numpy::pad(ll::householder_product(reflectors, taus), one) + corner};
}

LuResult lu(const Operand& operand, bool permute_l) {
  Site site(operand);
  const Array a = strong_inexact(operand);
  const auto [factors, pivots, permutation] = ll::lu(a);
  const std::int64_t m = a.shape(-2), n = a.shape(-1), k = std::min(m, n);
  const Array rows = numpy::arange(m);
  const Array p =
      astype(expand_dims(permutation, -2) == expand_dims(rows, -1), numpy::real(a).dtype());
  const Array l =
      numpy::tril(factors, -1)[{ellipsis, slice(none, k)}] + numpy::eye(m, k, 0, a.dtype());
  const Array u = numpy::triu(factors)[{ellipsis, slice(none, k), slice()}];
  if (permute_l) return {Array(), matmul(p, l), u};
  return {p, l, u};
}

std::pair<Array, Array> lu_factor(const Operand& a) {
  Site site(a);
  const auto [factors, pivots, permutation] = ll::lu(strong_inexact(a));
  return {factors, pivots};
}

Array lu_solve(const std::pair<Array, Array>& lu_and_piv, const Operand& b, int trans) {
  Site site(b);
  require_trans("lu_solve", trans);
  const Array given = ll::lu_pivots_to_permutation(lu_and_piv.second, lu_and_piv.first.shape(-1));
  return systems(
      "lu_solve", lu_and_piv.first, b,
      [&](const Array& factors, const Array& rhs, const Ints& batch) {
        const Array permutation = internal::with_batch(given, batch, 1);
        if (trans == 0)
          return triangular(factors, triangular(factors, rows_of(rhs, permutation), true, 0, true),
                            false, 0);
        return rows_of(
            triangular(factors, triangular(factors, rhs, false, trans), true, trans, true),
            numpy::argsort(permutation));
      });
}

QrResult qr(const Operand& operand, const std::string& mode, bool pivoting) {
  Site site(operand);
  if (mode != "full" && mode != "economic" && mode != "r")
    fail("qr", "there is no mode \"{}\"", mode);
  const std::vector<Array> out =
      ll::qr(strong_inexact(operand), {.pivoting = pivoting, .full_matrices = mode != "economic"});
  return {mode == "r" ? Array() : out[0], out[1], pivoting ? out[2] : Array()};
}

nl::SVDResult svd(const Operand& a, bool full_matrices, bool compute_uv) {
  Site site(a);
  return nl::svd(a, {.full_matrices = full_matrices, .compute_uv = compute_uv});
}

Array solve(const Operand& a, const Operand& b, const Solve& o) {
  Site site(a);
  if (o.assume_a == "gen" || o.assume_a == "sym" || o.assume_a == "her") return nl::solve(a, b);
  if (o.assume_a != "pos")
    fail("solve", "assume_a is \"gen\", \"sym\", \"her\" or \"pos\", got \"{}\"", o.assume_a);
  return cho_solve(cho_factor(a, o.lower), b);
}

Array solve_triangular(const Operand& a, const Operand& b, const SolveTriangular& o) {
  Site site(a);
  require_trans("solve_triangular", o.trans);
  return systems("solve_triangular", a, b, [&](const Array& c, const Array& rhs, const Ints&) {
    return triangular(c, rhs, o.lower, o.trans, o.unit_diagonal);
  });
}

}  // namespace strata::scipy::linalg
