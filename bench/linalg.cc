// Factorisations under jit: batches of small matrices by vmap, and single large ones.
//
//   linalg [RUNS]    {name: {"ms": the median, "check": the sum of the sizes of what is compared},
//   ...}
//
// bench/linalg.py makes the same matrices.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "strata/strata.h"

namespace {

using namespace strata;
namespace nl = numpy::linalg;

/// Element i is the fraction of i times the golden ratio, less a half: even, and the same in
/// Python.
Array even(std::vector<std::int64_t> shape) {
  std::int64_t count = 1;
  for (std::int64_t n : shape) count *= n;
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(
        static_cast<float>(std::fmod(static_cast<double>(i) * 0.6180339887498949, 1.0) - 0.5));
  return array(values, Sizes(shape));
}
/// G G^T / n + 1 on the diagonal.
Array positive(const std::vector<std::int64_t>& shape) {
  const Array g = even(shape);
  const float n = static_cast<float>(shape.back());
  return matmul(g, numpy::matrix_transpose(g)) / n + numpy::eye(shape.back());
}
/// Without structure: eigenvalues that are apart.
Array symmetric(const std::vector<std::int64_t>& shape) {
  const Array u = random::uniform(random::key(0), Sizes(shape));
  return u + numpy::matrix_transpose(u);
}
/// n / 4 on the diagonal.
Array dominant(const std::vector<std::int64_t>& shape) {
  return even(shape) + numpy::eye(shape.back()) * (static_cast<float>(shape.back()) / 4);
}

double milliseconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since)
      .count();
}

const char* separator = "{";

template <class F, class... Args>
void row(const char* name, int runs, F f, const Args&... args) {
  auto g = jit(f);
  Array out = g(args...);
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const auto began = std::chrono::steady_clock::now();
    out = g(args...);
    times.push_back(milliseconds(began));
  }
  std::sort(times.begin(), times.end());
  std::printf("%s\"%s\": {\"ms\": %.5f, \"check\": %.7g}", separator, name, times[times.size() / 2],
              numpy::sum(numpy::abs(out)).item<double>());
  std::fflush(stdout);
  separator = ", ";
}

}  // namespace

int main(int argc, char** argv) {
  const int many = argc > 1 ? std::atoi(argv[1]) : 20, few = std::max(1, many / 5);
  auto cholesky = [](Array a) { return nl::cholesky(a, {.symmetrize_input = false}); };
  auto solve = [](Array a, Array b) { return nl::solve(a, b); };
  row("cholesky_8x8_x4096", many, vmap(cholesky), positive({4096, 8, 8}));
  row("solve_4x4_x4096", many, vmap(solve), dominant({4096, 4, 4}), even({4096, 4}));
  row("solve_16x16_one_matrix_x4096", many, vmap(solve, {.in_axes = {none, 0}}), dominant({16, 16}),
      even({4096, 16}));
  row("eigh_16x16_x2000", many, vmap([](Array a) {
        const auto r = nl::eigh(a);
        return matmul(r.eigenvectors * r.eigenvalues, numpy::matrix_transpose(r.eigenvectors));
      }),
      symmetric({2000, 16, 16}));
  row("cholesky_512", few, cholesky, positive({512, 512}));
  row("cholesky_1000", few, cholesky, positive({1000, 1000}));
  row("cholesky_1024", few, cholesky, positive({1024, 1024}));
  row("solve_512", few, solve, dominant({512, 512}), even({512, 8}));
  row("inv_500", few, [](Array a) { return nl::inv(a); }, dominant({500, 500}));
  row("inv_512", few, [](Array a) { return nl::inv(a); }, dominant({512, 512}));
  row("qr_512", few, [](Array a) { return nl::qr(a).R; }, dominant({512, 512}));
  row("eigh_256", few, [](Array a) { return nl::eigh(a).eigenvalues; }, positive({256, 256}));
  row("svd_256", few, [](Array a) { return nl::svd(a).S; }, dominant({256, 256}));
  row("eig_256", few, [](Array a) { return nl::eig(a).eigenvalues; }, dominant({256, 256}));
  row("eigvals_256", few, [](Array a) { return nl::eigvals(a); }, dominant({256, 256}));
  row(
      "schur_256", few, [](Array a) { return numpy::diagonal(scipy::linalg::schur(a).T); },
      dominant({256, 256}));
  row(
      "qr_pivoted_512", few, [](Array a) { return lax::linalg::qr(a, {.pivoting = true})[1]; },
      dominant({512, 512}));
  std::printf("}\n");
}
