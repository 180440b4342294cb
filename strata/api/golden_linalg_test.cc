// How the functions of numpy/linalg.h and lax/linalg.h are called. Of factors, which are unique
// only up to signs or phases, what they multiply to is compared, that they are orthonormal, and the
// sizes of what is unique but for a sign.
#include <algorithm>
#include <complex>
#include <nlohmann/json.hpp>

#include "strata/api/golden.h"
#include "strata/api/index.h"
#include "strata/api/lax/linalg.h"
#include "strata/api/numpy/linalg.h"

namespace strata {
namespace {

namespace nl = numpy::linalg;
namespace ll = lax::linalg;
using testing::Call;
using Arrays = std::vector<Array>;

Array adjoint(const Array& x) { return numpy::conj(numpy::matrix_transpose(x)); }
Array gram(const Array& q) { return matmul(adjoint(q), q); }
Array in_columns(const Array& v, const Array& s) {
  return v * expand_dims(s, -2).astype(v.dtype());
}
Array first_columns(const Array& x, std::int64_t n) { return x[{ellipsis, slice(none, n)}]; }
Array first_rows(const Array& x, std::int64_t n) { return x[{ellipsis, slice(none, n), slice()}]; }

Arrays svd_facts(const Array& u, const Array& s, const Array& v) {
  return {s, matmul(in_columns(first_columns(u, s.shape(-1)), s), first_rows(v, s.shape(-1))),
          gram(u), gram(adjoint(v))};
}
Arrays eigh_facts(const Array& v, const Array& w) {
  return {w, matmul(in_columns(v, w), adjoint(v)), gram(v)};
}
/// 1 is added to what is zero, so that it has a scale.
Array right_residual(const Array& x, const Array& w, const Array& v) {
  return matmul(x.astype(v.dtype()), v) - in_columns(v, w) + 1;
}
Array left_residual(const Array& x, const Array& w, const Array& v) {
  return matmul(adjoint(v), x.astype(v.dtype())) - expand_dims(w, -1) * adjoint(v) + 1;
}

/// Each row in the order of real parts, then of imaginary ones.
Array sorted(const Array& w) {
  auto all = w.to_vector<std::complex<float>>();
  const auto n = static_cast<std::ptrdiff_t>(w.shape(-1));
  for (auto row = all.begin(); n > 0 && row != all.end(); row += n)
    std::sort(row, row + n, [](auto x, auto y) {
      return std::pair(x.real(), x.imag()) < std::pair(y.real(), y.imag());
    });
  std::vector<Array> elements;
  for (std::complex<float> z : all) elements.push_back(Array(z));
  return numpy::stack(elements).astype(w.dtype()).reshape(w.shape());
}

// ---- numpy -------------------------------------------------------------------------------------
STRATA_GOLDEN("numpy.linalg.cholesky",
              nl::cholesky(c.x(0), {.upper = c.flag("upper"),
                                    .symmetrize_input = c.flag("symmetrize_input", true)}));
Arrays qr(const Call& c) {
  const auto [q, r] = nl::qr(c.x(0), c.text("mode", "reduced"));
  return {matmul(q, r), gram(q), numpy::abs(q), numpy::abs(r)};
}
STRATA_GOLDEN("numpy.linalg.qr", qr(c));
Arrays svd(const Call& c) {
  const auto f = nl::svd(
      c.x(0), {.full_matrices = c.flag("full_matrices", true), .hermitian = c.flag("hermitian")});
  return svd_facts(f.U, f.S, f.Vh);
}
STRATA_GOLDEN("numpy.linalg.svd", svd(c));
STRATA_GOLDEN("numpy.linalg.svdvals", nl::svdvals(c.x(0)));
Arrays eig(const Call& c) {
  const auto [w, v] = nl::eig(c.x(0));
  return {sorted(w), right_residual(c.x(0), w, v), nl::norm(v, {.axis = -2})};
}
STRATA_GOLDEN("numpy.linalg.eig", eig(c));
STRATA_GOLDEN("numpy.linalg.eigvals", sorted(nl::eigvals(c.x(0))));
Arrays eigh(const Call& c) {
  const auto [w, v] = nl::eigh(c.x(0), c.text("UPLO", "L"), c.flag("symmetrize_input", true));
  return eigh_facts(v, w);
}
STRATA_GOLDEN("numpy.linalg.eigh", eigh(c));
STRATA_GOLDEN("numpy.linalg.eigvalsh",
              nl::eigvalsh(c.x(0), c.text("UPLO", "L"), c.flag("symmetrize_input", true)));
STRATA_GOLDEN("numpy.linalg.solve", nl::solve(c.x(0), c.x(1)));
STRATA_GOLDEN("numpy.linalg.inv", nl::inv(c.x(0)));
STRATA_GOLDEN("numpy.linalg.pinv",
              nl::pinv(c.x(0), {.rtol = c.array("rtol"), .hermitian = c.flag("hermitian")}));
Arrays lstsq(const Call& c) {
  nl::Lstsq options{.numpy_resid = c.flag("numpy_resid")};
  if (c.has("rcond")) options.rcond = c.number("rcond");
  const auto r = nl::lstsq(c.x(0), c.x(1), options);
  return {r.x, r.residuals + 1, r.rank, r.s};  // what is zero has a scale beside 1
}
STRATA_GOLDEN("numpy.linalg.lstsq", lstsq(c));
STRATA_GOLDEN("numpy.linalg.tensorsolve",
              nl::tensorsolve(c.x(0), c.x(1),
                              c.has("axes") ? std::optional(Sizes(c.integers("axes")))
                                            : std::nullopt));
STRATA_GOLDEN("numpy.linalg.tensorinv", nl::tensorinv(c.x(0), c.integer("ind", 2)));
STRATA_GOLDEN("numpy.linalg.det", nl::det(c.x(0)));
Arrays slogdet(const Call& c) {
  const auto [sign, logabsdet] = nl::slogdet(c.x(0), c.text("method", "lu"));
  return {sign, logabsdet};
}
STRATA_GOLDEN("numpy.linalg.slogdet", slogdet(c));
STRATA_GOLDEN("numpy.linalg.matrix_rank",
              nl::matrix_rank(c.x(0), {.rtol = c.array("rtol"), .hermitian = c.flag("hermitian")}));
STRATA_GOLDEN("numpy.linalg.matrix_power", nl::matrix_power(c.x(0), c.integer("n")));
std::optional<nl::Order> order(const Call& c, const char* name = "ord") {
  if (!c.has(name)) return std::nullopt;
  return c.option(name).is_string() ? nl::Order(c.text(name)) : nl::Order(c.number(name));
}
STRATA_GOLDEN("numpy.linalg.norm",
              nl::norm(c.x(0),
                       {.ord = order(c), .axis = c.axes(), .keepdims = c.flag("keepdims")}));
STRATA_GOLDEN("numpy.linalg.matrix_norm",
              nl::matrix_norm(c.x(0),
                              {.keepdims = c.flag("keepdims"), .ord = order(c).value_or("fro")}));
STRATA_GOLDEN("numpy.linalg.vector_norm", nl::vector_norm(c.x(0), {.axis = c.axes(),
                                                                   .keepdims = c.flag("keepdims"),
                                                                   .ord = order(c).value_or(2)}));
STRATA_GOLDEN("numpy.linalg.cond", nl::cond(c.x(0), order(c, "p")));
STRATA_GOLDEN("numpy.linalg.matmul", nl::matmul(c.x(0), c.x(1)));
STRATA_GOLDEN("numpy.linalg.matrix_transpose", nl::matrix_transpose(c.x(0)));
STRATA_GOLDEN("numpy.linalg.tensordot", nl::tensordot(c.x(0), c.x(1), c.integer("axes", 2)));
STRATA_GOLDEN("numpy.linalg.vecdot", nl::vecdot(c.x(0), c.x(1), c.integer("axis", -1)));
STRATA_GOLDEN("numpy.linalg.outer", nl::outer(c.x(0), c.x(1)));
STRATA_GOLDEN("numpy.linalg.cross", nl::cross(c.x(0), c.x(1), c.integer("axis", -1)));
STRATA_GOLDEN("numpy.linalg.multi_dot", nl::multi_dot(c.all()));
STRATA_GOLDEN("numpy.linalg.diagonal", nl::diagonal(c.x(0), c.integer("offset")));
STRATA_GOLDEN("numpy.linalg.trace", nl::trace(c.x(0), c.integer("offset"), c.dtype()));

// ---- lax ---------------------------------------------------------------------------------------
STRATA_GOLDEN("lax.linalg.cholesky",
              ll::cholesky(c.x(0), {.symmetrize_input = c.flag("symmetrize_input", true)}));
STRATA_GOLDEN("lax.linalg.cholesky_update", ll::cholesky_update(c.x(0), c.x(1)));
Arrays lax_eig(const Call& c) {
  const Arrays out =
      ll::eig(c.x(0), {.compute_left_eigenvectors = c.flag("compute_left_eigenvectors", true),
                       .compute_right_eigenvectors = c.flag("compute_right_eigenvectors", true)});
  if (out.size() == 1) return {sorted(out[0])};
  return {sorted(out[0]), left_residual(c.x(0), out[0], out[1]),
          right_residual(c.x(0), out[0], out[2])};
}
STRATA_GOLDEN("lax.linalg.eig", lax_eig(c));
Arrays lax_eigh(const Call& c) {
  const auto [v, w] = ll::eigh(c.x(0), {.lower = c.flag("lower", true),
                                        .symmetrize_input = c.flag("symmetrize_input", true)});
  return eigh_facts(v, w);
}
STRATA_GOLDEN("lax.linalg.eigh", lax_eigh(c));
STRATA_GOLDEN("lax.linalg.hessenberg", ll::hessenberg(c.x(0)));
STRATA_GOLDEN("lax.linalg.householder_product", ll::householder_product(c.x(0), c.x(1)));
STRATA_GOLDEN("lax.linalg.lu", ll::lu(c.x(0)));
STRATA_GOLDEN("lax.linalg.lu_pivots_to_permutation",
              ll::lu_pivots_to_permutation(c.x(0), c.integer("permutation_size")));
STRATA_GOLDEN("lax.linalg.ormqr",
              ll::ormqr(c.x(0), c.x(1), c.x(2),
                        {.left = c.flag("left", true), .transpose = c.flag("transpose")}));
STRATA_GOLDEN("lax.linalg.qdwh", ll::qdwh(c.x(0), {.is_hermitian = c.flag("is_hermitian"),
                                                   .max_iterations = c.maybe("max_iterations")}));
Arrays lax_qr(const Call& c) {
  const Arrays f = ll::qr(
      c.x(0), {.pivoting = c.flag("pivoting"), .full_matrices = c.flag("full_matrices", true)});
  Arrays out{matmul(f[0], f[1]), gram(f[0]), numpy::abs(f[1])};
  out.insert(out.end(), f.begin() + 2, f.end());
  return out;
}
STRATA_GOLDEN("lax.linalg.qr", lax_qr(c));
Arrays schur(const Call& c) {
  const Arrays f =
      ll::schur(c.x(0), {.compute_schur_vectors = c.flag("compute_schur_vectors", true)});
  const Array size = nl::matrix_norm(f[0]);
  if (f.size() == 1) return {size};
  return {size, matmul(matmul(f[1], f[0]), adjoint(f[1])), gram(f[1])};
}
STRATA_GOLDEN("lax.linalg.schur", schur(c));
Arrays lax_svd(const Call& c) {
  const Arrays f = ll::svd(c.x(0), {.full_matrices = c.flag("full_matrices", true),
                                    .compute_uv = c.flag("compute_uv", true)});
  return f.size() == 1 ? f : svd_facts(f[0], f[1], f[2]);
}
STRATA_GOLDEN("lax.linalg.svd", lax_svd(c));
STRATA_GOLDEN("lax.linalg.symmetric_product",
              ll::symmetric_product(c.x(0), c.x(1),
                                    {.alpha = c.number("alpha", 1),
                                     .beta = c.number("beta"),
                                     .symmetrize_output = c.flag("symmetrize_output")}));
STRATA_GOLDEN("lax.linalg.triangular_solve",
              ll::triangular_solve(c.x(0), c.x(1),
                                   {.left_side = c.flag("left_side"),
                                    .lower = c.flag("lower"),
                                    .transpose_a = c.flag("transpose_a"),
                                    .conjugate_a = c.flag("conjugate_a"),
                                    .unit_diagonal = c.flag("unit_diagonal")}));
STRATA_GOLDEN("lax.linalg.tridiagonal", ll::tridiagonal(c.x(0), {.lower = c.flag("lower", true)}));
STRATA_GOLDEN("lax.linalg.tridiagonal_solve",
              ll::tridiagonal_solve(c.x(0), c.x(1), c.x(2), c.x(3)));

TEST(Linalg, ImplementationsThatCpusLackAreRefused) {
  testing::shows_names(
      "lax.linalg.EigImplementation lax.linalg.EighImplementation lax.linalg.SvdAlgorithm");
  const Array x = numpy::eye(2);
  EXPECT_EQ(ll::svd(x, {.algorithm = ll::SvdAlgorithm::QR}).size(), 3u);
  EXPECT_EQ(ll::eig(x, {.implementation = ll::EigImplementation::LAPACK}).size(), 3u);
  testing::expect_array(ll::eigh(x, {.implementation = ll::EighImplementation::QR}).second,
                        "f32[2]", {1, 1});
  EXPECT_THAT(
      testing::message_of([&] { (void)ll::svd(x, {.algorithm = ll::SvdAlgorithm::POLAR}); }),
      ::testing::HasSubstr("svd: that algorithm is not one of CPUs"));
  EXPECT_THAT(testing::message_of(
                  [&] { (void)ll::eig(x, {.implementation = ll::EigImplementation::MAGMA}); }),
              ::testing::HasSubstr("not one of CPUs"));
  EXPECT_THAT(testing::message_of(
                  [&] { (void)ll::eigh(x, {.implementation = ll::EighImplementation::QDWH}); }),
              ::testing::HasSubstr("not one of CPUs"));
}

}  // namespace
}  // namespace strata
