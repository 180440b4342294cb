// Derivatives of linear algebra in both modes beside finite differences in f64, and vmap beside a loop.
#include <cmath>
#include <functional>

#include "strata/api/grad.h"
#include "strata/api/index.h"
#include "strata/api/lax/linalg.h"
#include "strata/api/numpy/fft.h"
#include "strata/api/numpy/linalg.h"
#include "strata/api/scipy/linalg.h"
#include "strata/api/testing.h"
#include "strata/api/vmap.h"

namespace strata {
namespace {

namespace nl = numpy::linalg;
using F = std::function<Array(Array)>;

/// A number that each element of a result moves, by another weight.
Array weighed(const Array& y) {
  const Array parts = is_complex(y.dtype()) ? numpy::stack({numpy::real(y), numpy::imag(y)}) : y;
  return sum(ravel(parts) * numpy::cos(numpy::arange(parts.size(), float64) + 1.0));
}

struct Function {
  const char* name;
  F f;
};
/// Of what is unique of factors; of others of themselves.
const std::vector<Function>& functions() {
  auto symmetric = [](const Array& a) { return a + numpy::matrix_transpose(a); };
  static const std::vector<Function> all = {
      {"cholesky", [](Array a) { return nl::cholesky(matmul(a, numpy::matrix_transpose(a))); }},
      {"solve", [](Array a) { return nl::solve(a, numpy::sin(a)); }},
      {"inv", [](Array a) { return nl::inv(a); }},
      {"det", [](Array a) { return nl::det(a); }},
      {"slogdet", [](Array a) { return nl::slogdet(a).logabsdet; }},
      {"qr", [](Array a) { auto [q, r] = nl::qr(a); return q + r; }},
      {"eigh", [=](Array a) { auto [w, v] = nl::eigh(symmetric(a)); return v * numpy::expand_dims(w, -2); }},
      {"eigvals", [](Array a) { return nl::eigvals(a); }},
      {"svd", [](Array a) { auto [u, s, v] = nl::svd(a, {.full_matrices = false}); return matmul(u, v) + numpy::expand_dims(s, -2); }},
      {"pinv", [](Array a) { return nl::pinv(a[{slice(), slice(none, 2)}]); }},
      {"nuclear norm", [](Array a) { return nl::norm(a, {.ord = "nuc"}); }},
      {"lu", [](Array a) { return std::get<0>(lax::linalg::lu(a)); }},
      {"lstsq", [](Array a) { return nl::lstsq(a[{slice(), slice(none, 2)}], a[{slice(), 2}]).x; }},
      {"tridiagonal_solve", [](Array a) { return lax::linalg::tridiagonal_solve(a[{0}], a[{1}] + 9.0, a[{2}], numpy::matrix_transpose(a)); }},
      {"expm", [](Array a) { return scipy::linalg::expm(a * 0.1); }},
      {"cho_solve", [](Array a) { return scipy::linalg::cho_solve(scipy::linalg::cho_factor(matmul(a, numpy::matrix_transpose(a))), a); }},
      {"fft", [](Array a) { return numpy::fft::fft2(a); }},
      {"irfft", [](Array a) { return numpy::fft::irfft(a, {.n = 5}); }},
  };
  return all;
}

/// Far from singular, all eigenvalues apart.
Array matrix() {
  return array(std::vector<double>{7, 0.3, -0.5, 0.4, 4, 0.7, 0.2, -0.6, 2}, Sizes{3, 3});
}
Array direction() { return array(std::vector<double>{0.3, -0.7, 0.2, 0.9, 0.1, -0.4, 0.6, 0.8, -0.5}, Sizes{3, 3}); }

TEST(LinalgDerivatives, AgreeWithFiniteDifferences) {
  EnableX64 wide;
  const Array x = matrix(), v = direction();
  for (const Function& f : functions()) {
    SCOPED_TRACE(f.name);
    auto number = [&](Array a) { return weighed(f.f(a)); };
    const double h = 1e-5, difference = (number(x + h * v).item<double>() - number(x - h * v).item<double>()) / (2 * h);
    const double scale = 1 + std::fabs(difference);
    EXPECT_NEAR(jvp(number, std::tuple(x), std::tuple(v)).second.item<double>(), difference, 1e-7 * scale);
    EXPECT_NEAR(sum(grad(number)(x) * v).item<double>(), difference, 1e-7 * scale);
  }
}

TEST(LinalgBatches, VmapGivesWhatALoopGives) {
  EnableX64 wide;
  const Array xs = numpy::stack({matrix(), matrix() + direction(), matrix() - direction()});
  for (const Function& f : functions()) {
    SCOPED_TRACE(f.name);
    const Array all = vmap(f.f)(xs);
    for (std::int64_t i = 0; i < 3; ++i) EXPECT_TRUE(numpy::allclose(all[{i}], f.f(xs[{i}]), {.rtol = 1e-12, .atol = 1e-12}).item<bool>()) << i;
  }
}

}  // namespace
}  // namespace strata
