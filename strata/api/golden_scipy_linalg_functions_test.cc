// How the functions of scipy/matrix_functions.h are called, and the matrices that came with them.
#include "strata/api/golden.h"
#include "strata/api/index.h"
#include "strata/api/scipy/linalg.h"

namespace strata {
namespace {

namespace sl = scipy::linalg;
using testing::Call;
using Arrays = std::vector<Array>;

Array adjoint(const Array& x) { return numpy::conj(numpy::matrix_transpose(x)); }
/// What a Schur form and its vectors multiply to, and that they are orthonormal.
Arrays whole(const Array& t, const Array& z) {
  return {matmul(matmul(z, t), adjoint(z)), matmul(adjoint(z), z)};
}

Arrays schur(const Call& c) {
  const auto [t, z] = sl::schur(c.x(0), c.text("output", "real"));
  Arrays out = whole(t, z);
  out.push_back(numpy::tril(t, -2));
  out.push_back(is_complex(t.dtype()) ? numpy::tril(t, -1) : zeros_like(t));
  return out;
}
STRATA_GOLDEN("scipy.linalg.schur", schur(c));
Arrays rsf2csf(const Call& c) {
  const auto [t, z] = sl::rsf2csf(c.x(0), c.x(1));
  Arrays out = whole(t, z);
  out.push_back(numpy::tril(t, -1));
  return out;
}
STRATA_GOLDEN("scipy.linalg.rsf2csf", rsf2csf(c));
STRATA_GOLDEN("scipy.linalg.sqrtm", sl::sqrtm(c.x(0)));
Array function_of(const Call& c, const Array& x) {
  return c.text("func") == "exp" ? exp(x) : c.text("func") == "sin" ? sin(x) : square(x);
}
STRATA_GOLDEN("scipy.linalg.funm",
              sl::funm(c.x(0), [&](const Array& x) { return function_of(c, x); }));
STRATA_GOLDEN("scipy.linalg.solve_sylvester",
              sl::solve_sylvester(c.x(0), c.x(1), c.x(2),
                                  {.method = c.text("method", "schur"),
                                   .tol = c.number("tol", 1e-8)}));
Arrays expm_frechet(const Call& c) {
  const auto [value, derivative] = sl::expm_frechet(c.x(0), c.x(1), c.flag("compute_expm", true));
  return c.flag("compute_expm", true) ? Arrays{value, derivative} : Arrays{derivative};
}
STRATA_GOLDEN("scipy.linalg.expm_frechet", expm_frechet(c));
STRATA_GOLDEN("scipy.linalg.polar",
              sl::polar(c.x(0), c.text("side", "right"), {.method = c.text("method", "qdwh")}));
Arrays qr_multiply(const Call& c) {
  const auto [cq, r, p] = sl::qr_multiply(c.x(0), c.x(1),
                                          {.mode = c.text("mode", "right"),
                                           .pivoting = c.flag("pivoting"),
                                           .conjugate = c.flag("conjugate")});
  Arrays out{numpy::abs(cq), numpy::abs(r)};
  if (c.flag("pivoting")) out.push_back(p);
  return out;
}
STRATA_GOLDEN("scipy.linalg.qr_multiply", qr_multiply(c));
Arrays eigh_tridiagonal(const Call& c) {
  sl::EighTridiagonal options{.eigvals_only = c.flag("eigvals_only"),
                              .select = c.text("select", "a")};
  if (c.has("select_range"))
    options.select_range = std::pair(c.integers("select_range")[0], c.integers("select_range")[1]);
  if (c.has("tol")) options.tol = c.number("tol");
  const auto [w, v] = sl::eigh_tridiagonal(c.x(0), c.x(1), options);
  if (options.eigvals_only) return {w};
  return {w, matmul(v * w.astype(v.dtype()), adjoint(v)), matmul(adjoint(v), v)};
}
STRATA_GOLDEN("scipy.linalg.eigh_tridiagonal", eigh_tridiagonal(c));
STRATA_GOLDEN("scipy.linalg.fiedler_companion", sl::fiedler_companion(c.x(0)));
STRATA_GOLDEN("scipy.linalg.convolution_matrix",
              sl::convolution_matrix(c.x(0), c.integer("n"), c.text("mode", "full")));
STRATA_GOLDEN("scipy.linalg.pascal", sl::pascal(c.integer("n"), c.text("kind", "symmetric")));
STRATA_GOLDEN("scipy.linalg.invpascal", sl::invpascal(c.integer("n"), c.text("kind", "symmetric")));
STRATA_GOLDEN("scipy.linalg.invhilbert", sl::invhilbert(c.integer("n")));

/// The estimate bounds what is lost where eigenvalues are apart, and is at most 1 where they are
/// not.
TEST(ScipyLinalg, FunmEstimatesItsError) {
  const Array apart = array({1.0f, 2.0f, 0.0f, 3.0f}).reshape({2, 2}),
              equal = array({1.0f, 1.0f, 0.0f, 1.0f}).reshape({2, 2});
  auto e = [](const Array& x) { return exp(x); };
  const auto [f, small] = sl::funm_with_error(apart, e);
  EXPECT_NEAR(small.item<float>(), 1.1920929e-07f * 2,
              1e-12);  // eps / |3 - 1|, or 1 where that is less, times |triu(T, 1)|
  EXPECT_EQ(sl::funm_with_error(equal, e).second.item<float>(), 1);
  EXPECT_TRUE(numpy::allclose(f, sl::expm(apart).astype(complex64), {.rtol = 1e-6}).item<bool>());
}

}  // namespace
}  // namespace strata
