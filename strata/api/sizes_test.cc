// Outside of jit a new shape of a known structure compiles nothing.
#include <functional>
#include <random>
#include <set>

#include "strata/api/lax.h"
#include "strata/api/numpy.h"
#include "strata/api/testing.h"
#include "strata/compile/llvm/jit.h"

namespace strata {
namespace {

namespace snp = strata::numpy;

struct Case {
  const char* name;
  std::function<void(std::int64_t, std::int64_t)> run;
};

Array matrix(std::int64_t m, std::int64_t n) {
  return snp::reshape(snp::arange(static_cast<double>(m * n)), {m, n}) * 0.25f;
}

std::int64_t codes() {
  const compile::CompileCounts counts = compile::compile_counts();
  return counts.made + counts.from_disk;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"add", [](auto m, auto n) { (void)(matrix(m, n) + matrix(m, n)); }},
      {"tanh", [](auto m, auto n) { (void)snp::tanh(matrix(m, n)); }},
      {"add a row", [](auto m, auto n) { (void)(matrix(m, n) + matrix(1, n)); }},
      {"add a column", [](auto m, auto n) { (void)(matrix(m, n) + matrix(m, 1)); }},
      {"where", [](auto m, auto n) { (void)snp::where(matrix(m, n) > 3.0f, matrix(m, n), 0.0f); }},
      {"sum", [](auto m, auto n) { (void)snp::sum(matrix(m, n)); }},
      {"sum of rows", [](auto m, auto n) { (void)snp::sum(matrix(m, n), 1); }},
      {"max of rows", [](auto m, auto n) { (void)snp::max(matrix(m, n), 1); }},
      {"argmax", [](auto m, auto n) { (void)snp::argmax(matrix(m, n), 1); }},
      {"transpose", [](auto m, auto n) { (void)snp::transpose(matrix(m, n)); }},
      {"concatenate",
       [](auto m, auto n) { (void)snp::concatenate({matrix(m, n), matrix(m, n)}, 0); }},
      {"slice", [](auto m, auto n) { (void)matrix(m, n)[{slice(1, none), slice(2, none)}]; }},
      {"pad", [](auto m, auto n) { (void)lax::pad(matrix(m, n), 0.0f, {{1, 2, 0}, {3, 4, 0}}); }},
      {"take", [](auto m, auto n) { (void)snp::take(matrix(m, n), array({0, 1, 0}), 0); }},
      {"cumsum", [](auto m, auto n) { (void)snp::cumsum(matrix(m, n), 1); }},
      {"sort", [](auto m, auto n) { (void)snp::sort(matrix(m, n)); }},
      {"matmul", [](auto m, auto n) { (void)snp::matmul(matrix(m, n), matrix(n, m)); }},
      {"matmul by a vector",
       [](auto m, auto n) {
         (void)snp::matmul(matrix(m, n), snp::arange(static_cast<double>(n)));
       }},
      {"einsum",
       [](auto m, auto n) {
         (void)snp::einsum("ibk,jbk->bij", {snp::reshape(matrix(3 * m, n), {m, 3, n}),
                                            snp::reshape(matrix(6, n), {2, 3, n})});
       }},
      {"convolution",
       [](auto m, auto n) {
         (void)lax::conv_general_dilated(snp::reshape(matrix(m, n), {1, 1, m, n}),
                                         snp::reshape(matrix(3, 3), {1, 1, 3, 3}), {1, 1}, "SAME");
       }},
      {"flip", [](auto m, auto n) { (void)snp::flip(matrix(m, n)); }},
  };
  return all;
}

/// `draw(random)` is a shape. Those drawn again are left out.
template <class F>
void expect_new_shapes_compile_nothing(int first_shapes, int more_shapes, F&& draw) {
  for (const Case& c : cases()) {
    std::mt19937 random(7);
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    auto run_new_shapes = [&](int shapes) {
      const std::int64_t before = codes();
      for (int i = 0; i < shapes;) {
        const auto [m, n] = draw(random);
        if (!seen.emplace(m, n).second) continue;
        c.run(m, n);
        ++i;
      }
      return codes() - before;
    };
    const std::int64_t first = run_new_shapes(first_shapes), more = run_new_shapes(more_shapes);
    EXPECT_LE(more, 2) << c.name << ": " << first << " functions compiled for " << first_shapes
                       << " shapes, and " << more << " for " << more_shapes << " more";
    if (std::getenv("STRATA_TEST_PRINT"))
      std::printf("%-14s %3ld %3ld\n", c.name, static_cast<long>(first), static_cast<long>(more));
  }
}

/// How a kernel is built depends on a size in a few ways (whether it fills strips, is a block, or
/// many), so a structure has a few kernels; once they are there, new shapes find them. Shapes are
/// drawn, and were not seen before.
TEST(Sizes, NewShapesOfAKnownStructureCompileNothing) {
  expect_new_shapes_compile_nothing(200, 50, [](auto& random) {
    const std::int64_t m = 3 + random() % 60, n = 3 + random() % 60;
    return std::pair(m, n);
  });
}
/// Nor those of many short rows, for which jit makes kernels of their own.
TEST(Sizes, NewNumbersOfShortRowsCompileNothing) {
  expect_new_shapes_compile_nothing(60, 20, [](auto& random) {
    const std::int64_t m = 1000 + random() % 500, n = 2 + random() % 11;
    return std::pair(m, n);
  });
}

}  // namespace
}  // namespace strata
