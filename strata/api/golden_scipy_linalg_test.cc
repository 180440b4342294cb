// How the functions of scipy/linalg.h are called; what is compared of factors:
// golden_linalg_test.cc.
#include "strata/api/golden.h"
#include "strata/api/index.h"
#include "strata/api/scipy/linalg.h"

namespace strata {
namespace {

namespace sl = scipy::linalg;
using testing::Call;
using Arrays = std::vector<Array>;

Array adjoint(const Array& x) { return numpy::conj(numpy::matrix_transpose(x)); }
Array gram(const Array& q) { return matmul(adjoint(q), q); }

STRATA_GOLDEN("scipy.linalg.cholesky", sl::cholesky(c.x(0), c.flag("lower")));
STRATA_GOLDEN("scipy.linalg.cho_factor", sl::cho_factor(c.x(0), c.flag("lower")).first);
STRATA_GOLDEN("scipy.linalg.cho_solve",
              sl::cho_solve(sl::cho_factor(c.x(0), c.flag("lower")), c.x(1)));
STRATA_GOLDEN("scipy.linalg.det", sl::det(c.x(0)));
STRATA_GOLDEN("scipy.linalg.inv", sl::inv(c.x(0)));
Arrays eigh(const Call& c) {
  const auto [w, v] = sl::eigh(c.x(0), c.flag("lower", true));
  return {w, matmul(v * expand_dims(w, -2).astype(v.dtype()), adjoint(v))};
}
STRATA_GOLDEN("scipy.linalg.eigh", eigh(c));
STRATA_GOLDEN("scipy.linalg.hessenberg", sl::hessenberg_with_q(c.x(0)));
Arrays lu(const Call& c) {
  const auto [p, l, u] = sl::lu(c.x(0), c.flag("permute_l"));
  return c.flag("permute_l") ? Arrays{l, u} : Arrays{p, l, u};
}
STRATA_GOLDEN("scipy.linalg.lu", lu(c));
STRATA_GOLDEN("scipy.linalg.lu_factor", sl::lu_factor(c.x(0)));
STRATA_GOLDEN("scipy.linalg.lu_solve",
              sl::lu_solve(sl::lu_factor(c.x(0)), c.x(1), static_cast<int>(c.integer("trans"))));
Arrays qr(const Call& c) {
  const auto [q, r, p] = sl::qr(c.x(0), c.text("mode", "full"));
  return {matmul(q, r), gram(q), numpy::abs(r)};
}
STRATA_GOLDEN("scipy.linalg.qr", qr(c));
Arrays svd(const Call& c) {
  const auto [u, s, v] = sl::svd(c.x(0), c.flag("full_matrices", true));
  const std::int64_t k = s.shape(-1);
  const Array left = u[{ellipsis, slice(none, k)}], right = v[{ellipsis, slice(none, k), slice()}];
  return {s, matmul(left * expand_dims(s, -2).astype(u.dtype()), right), gram(u)};
}
STRATA_GOLDEN("scipy.linalg.svd", svd(c));
STRATA_GOLDEN("scipy.linalg.solve",
              sl::solve(c.x(0), c.x(1),
                        {.lower = c.flag("lower"), .assume_a = c.text("assume_a", "gen")}));
STRATA_GOLDEN("scipy.linalg.solve_triangular",
              sl::solve_triangular(c.x(0), c.x(1),
                                   {.trans = static_cast<int>(c.integer("trans")),
                                    .lower = c.flag("lower"),
                                    .unit_diagonal = c.flag("unit_diagonal")}));
STRATA_GOLDEN("scipy.linalg.expm",
              sl::expm(c.x(0), {.upper_triangular = c.flag("upper_triangular"),
                                .max_squarings = c.integer("max_squarings", 16)}));
std::optional<Array> second(const Call& c) {
  return c.count() > 1 ? std::optional(c.x(1)) : std::nullopt;
}
STRATA_GOLDEN("scipy.linalg.block_diag", sl::block_diag(c.all()));
STRATA_GOLDEN("scipy.linalg.toeplitz", sl::toeplitz(c.x(0), second(c)));
STRATA_GOLDEN("scipy.linalg.hankel", sl::hankel(c.x(0), second(c)));
STRATA_GOLDEN("scipy.linalg.circulant", sl::circulant(c.x(0)));
STRATA_GOLDEN("scipy.linalg.companion", sl::companion(c.x(0)));
STRATA_GOLDEN("scipy.linalg.fiedler", sl::fiedler(c.x(0)));
STRATA_GOLDEN("scipy.linalg.leslie", sl::leslie(c.x(0), c.x(1)));
STRATA_GOLDEN("scipy.linalg.hilbert", sl::hilbert(c.integer("n")));
STRATA_GOLDEN("scipy.linalg.hadamard",
              sl::hadamard(c.integer("n"), c.dtype().value_or(DType::i32)));
STRATA_GOLDEN("scipy.linalg.helmert", sl::helmert(c.integer("n"), c.flag("full")));
STRATA_GOLDEN("scipy.linalg.dft",
              sl::dft(c.integer("n"),
                      c.has("scale") ? std::optional(c.text("scale")) : std::nullopt, c.dtype()));

}  // namespace
}  // namespace strata
