// Derivatives of linear algebra in both modes beside finite differences in f64, and vmap beside a
// loop.
#include "strata/api/lax/linalg.h"

#include <cmath>
#include <functional>

#include "strata/api/index.h"
#include "strata/api/numpy/fft.h"
#include "strata/api/numpy/linalg.h"
#include "strata/api/scipy/linalg.h"
#include "strata/api/testing.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/vmap.h"

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
      {"qr",
       [](Array a) {
         auto [q, r] = nl::qr(a);
         return q + r;
       }},
      {"eigh",
       [=](Array a) {
         auto [w, v] = nl::eigh(symmetric(a));
         return v * numpy::expand_dims(w, -2);
       }},
      {"eigvals", [](Array a) { return nl::eigvals(a); }},
      {"svd",
       [](Array a) {
         auto [u, s, v] = nl::svd(a, {.full_matrices = false});
         return matmul(u, v) + numpy::expand_dims(s, -2);
       }},
      {"pinv", [](Array a) { return nl::pinv(a[{slice(), slice(none, 2)}]); }},
      {"nuclear norm", [](Array a) { return nl::norm(a, {.ord = "nuc"}); }},
      {"lu", [](Array a) { return std::get<0>(lax::linalg::lu(a)); }},
      {"lstsq", [](Array a) { return nl::lstsq(a[{slice(), slice(none, 2)}], a[{slice(), 2}]).x; }},
      {"tridiagonal_solve",
       [](Array a) {
         return lax::linalg::tridiagonal_solve(a[{0}], a[{1}] + 9.0, a[{2}],
                                               numpy::matrix_transpose(a));
       }},
      {"expm", [](Array a) { return scipy::linalg::expm(a * 0.1); }},
      {"cho_solve",
       [](Array a) {
         return scipy::linalg::cho_solve(
             scipy::linalg::cho_factor(matmul(a, numpy::matrix_transpose(a))), a);
       }},
      {"fft", [](Array a) { return numpy::fft::fft2(a); }},
      {"irfft", [](Array a) { return numpy::fft::irfft(a, {.n = 5}); }},
  };
  return all;
}

/// Far from singular, all eigenvalues apart.
Array matrix() {
  return array(std::vector<double>{7, 0.3, -0.5, 0.4, 4, 0.7, 0.2, -0.6, 2}, Sizes{3, 3});
}
Array direction() {
  return array(std::vector<double>{0.3, -0.7, 0.2, 0.9, 0.1, -0.4, 0.6, 0.8, -0.5}, Sizes{3, 3});
}

TEST(LinalgDerivatives, AgreeWithFiniteDifferences) {
  EnableX64 wide;
  const Array x = matrix(), v = direction();
  for (const Function& f : functions()) {
    SCOPED_TRACE(f.name);
    auto number = [&](Array a) { return weighed(f.f(a)); };
    const double h = 1e-5, difference = (number(x + h * v).item<double>() -
                                         number(x - h * v).item<double>()) /
                                        (2 * h);
    const double scale = 1 + std::fabs(difference);
    EXPECT_NEAR(jvp(number, std::tuple(x), std::tuple(v)).second.item<double>(), difference,
                1e-7 * scale);
    EXPECT_NEAR(sum(grad(number)(x) * v).item<double>(), difference, 1e-7 * scale);
  }
}

// ---- determinants of more than three rows ------------------------------------------------------

/// Of squares: sines of even steps are of rank two whatever their number.
Array uneven(std::int64_t rows, std::int64_t columns) {
  return numpy::reshape(numpy::sin(numpy::square(numpy::arange(rows * columns, float64) + 0.3)),
                        {rows, columns});
}
Array of_rank(std::int64_t rank) {
  return matmul(uneven(5, rank), numpy::cos(uneven(rank, 5) * 3));
}
Array far_from_singular() { return of_rank(5) + numpy::eye(5, {}, 0, float64); }
Array step_of_five() { return numpy::sin(uneven(5, 5) * 2); }

/// The derivative of f along a step: of fourth order, exact for polynomials of degree four.
double slope(const F& f, const Array& at, const Array& step) {
  constexpr double h = 1e-2;
  auto around = [&](double far) {
    return (f(at + far * step).item<double>() - f(at - far * step).item<double>()) / (2 * far);
  };
  return (4 * around(h) - around(2 * h)) / 3;
}
std::vector<Array> matrices_of_five() {
  const Array no_first_column = far_from_singular().at({slice(), 0}).set(0),
              no_middle_row = far_from_singular().at({2}).set(0);
  const Array nothing_twice = no_first_column.at({slice(), 3}).set(0);
  return {far_from_singular(), of_rank(4),    of_rank(3),    of_rank(2),
          no_first_column,     no_middle_row, nothing_twice, numpy::zeros({5, 5}, float64)};
}

TEST(Determinants, HaveDerivativesWhereTheyAreZero) {
  EnableX64 wide;
  const Array step = step_of_five();
  auto f = [](Array a) { return nl::det(a); };
  for (const Array& a : matrices_of_five()) {
    const double want = slope(f, a, step);
    EXPECT_NEAR(jvp(f, std::tuple(a), std::tuple(step)).second.item<double>(), want, 1e-6);
    EXPECT_NEAR(sum(grad(f)(a) * step).item<double>(), want, 1e-6);
  }
  // Not all of these are zero.
  EXPECT_GT(std::fabs(slope(f, of_rank(4), step)), 1e-3);
  EXPECT_GT(std::fabs(slope(f, matrices_of_five()[4], step)), 1e-3);
  EXPECT_GT(std::fabs(slope(f, matrices_of_five()[5], step)), 1e-3);
}

TEST(Determinants, HaveSecondDerivativesWhereTheyAreNotZero) {
  EnableX64 wide;
  const Array a = far_from_singular(), step = step_of_five();
  auto along = [&](Array x) { return sum(grad([](Array y) { return nl::det(y); })(x) * step); };
  EXPECT_NEAR(jvp(along, std::tuple(a), std::tuple(step)).second.item<double>(),
              slope(along, a, step), 1e-6);
  EXPECT_NEAR(sum(grad(along)(a) * step).item<double>(), slope(along, a, step), 1e-6);
}

TEST(Determinants, OfBatchesHaveTheDerivativesOfEach) {
  EnableX64 wide;
  const std::vector<Array> each = matrices_of_five();
  const Array all = numpy::stack(each);
  auto f = [](Array a) { return nl::det(a); };
  const Array at_once = grad([&](Array a) { return sum(f(a)); })(all), by_vmap = vmap(grad(f))(all);
  for (std::int64_t i = 0; i < all.shape(0); ++i) {
    const Array want = grad(f)(each[static_cast<std::size_t>(i)]);
    EXPECT_TRUE(numpy::allclose(at_once[{i}], want, {.rtol = 1e-12, .atol = 1e-12}).item<bool>())
        << i;
    EXPECT_TRUE(numpy::allclose(by_vmap[{i}], want, {.rtol = 1e-12, .atol = 1e-12}).item<bool>())
        << i;
  }
}

TEST(Determinants, OfComplexMatricesHaveDerivatives) {
  EnableX64 wide;
  auto f = [](Array t) {
    const Array a =
        numpy::astype(of_rank(4), complex128) +
        (numpy::astype(step_of_five(), complex128) * array(std::complex<double>(0.3, 0.8))) * t;
    return numpy::imag(nl::det(a));
  };
  const Array t = array(0.0, float64);
  EXPECT_NEAR(grad(f)(t).item<double>(), slope(f, t, array(1.0, float64)), 1e-6);
  EXPECT_GT(std::fabs(grad(f)(t).item<double>()), 1e-3);
}

TEST(Determinants, OfNoRowsAndOfOne) {
  EXPECT_EQ(nl::det(numpy::zeros({0, 0})).item<float>(), 1);
  EXPECT_EQ(nl::det(numpy::zeros({2, 0, 0})).shape(0), 2);
  EXPECT_EQ(grad([](Array a) { return nl::det(a); })(numpy::zeros({1, 1})).item<float>(), 1);
}

TEST(LinalgBatches, VmapGivesWhatALoopGives) {
  EnableX64 wide;
  const Array xs = numpy::stack({matrix(), matrix() + direction(), matrix() - direction()});
  for (const Function& f : functions()) {
    SCOPED_TRACE(f.name);
    const Array all = vmap(f.f)(xs);
    for (std::int64_t i = 0; i < 3; ++i)
      EXPECT_TRUE(
          numpy::allclose(all[{i}], f.f(xs[{i}]), {.rtol = 1e-12, .atol = 1e-12}).item<bool>())
          << i;
  }
}

}  // namespace
}  // namespace strata
