// cholesky and triangular_solve: samples, constraints, and the equations they solve.
#include "strata/op/linalg/matrix.h"

#include <complex>

#include "strata/op/evaluate.h"
#include "strata/op/samples.h"
#include "strata/op/testing/refused.h"

namespace strata::op {
namespace {

/// Diagonally dominant, so positive definite where symmetric; what the other triangle holds is
/// arbitrary.
Literal dominant(DType dtype, Shape shape, std::uint64_t seed) {
  Literal x = random_literal(Type(dtype, shape), seed, -0.5, 0.5);
  std::int64_t n = shape[shape.rank() - 1];
  for (std::int64_t i = 0; i < x.count(); ++i)
    if (i / n % n == i % n) x.set_number(i, static_cast<double>(n) + x.number(i));
  return x;
}

Attrs triangle_of(bool lower) { return {{"lower", lower}}; }

const bool cholesky_registered = add_samples("stablehlo.cholesky", [](std::vector<Sample>& out) {
  out.push_back(
      {.what = "lower", .operands = {dominant(DType::f64, {4, 4}, 1)}, .attrs = triangle_of(true)});
  out.push_back({.what = "upper, a batch",
                 .operands = {dominant(DType::f64, {2, 3, 3}, 2)},
                 .attrs = triangle_of(false)});
  out.push_back(
      {.what = "f32", .operands = {dominant(DType::f32, {5, 5}, 3)}, .attrs = triangle_of(true)});
  out.push_back(
      {.what = "bf16", .operands = {dominant(DType::bf16, {3, 3}, 4)}, .attrs = triangle_of(true)});
  out.push_back(
      {.what = "c64", .operands = {dominant(DType::c64, {3, 3}, 5)}, .attrs = triangle_of(true)});
  out.push_back({.what = "not positive definite",
                 .operands = {Literal::full(Type(DType::f32, {2, 2}), -1)},
                 .attrs = triangle_of(true),
                 .smooth = false});
  out.push_back({.what = "no rows",
                 .operands = {dominant(DType::f32, {2, 0, 0}, 6)},
                 .attrs = triangle_of(false)});
});

Attrs flags(bool left, bool lower, bool unit, const char* op) {
  return {{"left_side", left},
          {"lower", lower},
          {"unit_diagonal", unit},
          {"transpose_a", std::string(op)}};
}

const bool solve_registered =
    add_samples("stablehlo.triangular_solve", [](std::vector<Sample>& out) {
      for (int k = 0; k < 8; ++k)
        for (const char* op : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}) {
          bool left = k & 1, lower = k & 2, unit = k & 4;
          Shape rhs = left ? Shape{3, 2} : Shape{2, 3};
          out.push_back({.what = fmt::format("left {} lower {} unit {} {}", left, lower, unit, op),
                         .operands = {dominant(DType::f64, {3, 3}, 7),
                                      random_literal(Type(DType::f64, rhs), 8)},
                         .attrs = flags(left, lower, unit, op)});
        }
      out.push_back({.what = "a batch of f32 with many sides",
                     .operands = {dominant(DType::f32, {2, 4, 4}, 9),
                                  random_literal(Type(DType::f32, {2, 4, 19}), 10)},
                     .attrs = flags(true, true, false, "NO_TRANSPOSE")});
      out.push_back({.what = "c128",
                     .operands = {dominant(DType::c128, {3, 3}, 11),
                                  random_literal(Type(DType::c128, {3, 1}), 12)},
                     .attrs = flags(true, false, false, "ADJOINT")});
      out.push_back({.what = "f16",
                     .operands = {dominant(DType::f16, {3, 3}, 13),
                                  random_literal(Type(DType::f16, {3, 1}), 14)},
                     .attrs = flags(true, true, false, "TRANSPOSE")});
      out.push_back(
          {.what = "no right hand sides",
           .operands = {dominant(DType::f32, {3, 3}, 15), Literal(Type(DType::f32, {3, 0}))},
           .attrs = flags(true, true, false, "NO_TRANSPOSE")});
    });

Literal complex_matrix(Shape shape, std::uint64_t seed) {
  std::vector<Dim> dims = shape.dims();
  dims.emplace_back(2);
  Literal parts = random_literal(Type(DType::f64, Shape(std::move(dims))), seed, -1, 1);
  return Literal(Type(DType::c128, std::move(shape)), parts.storage());
}

using Complex = std::complex<double>;

/// op(A) of the named triangle, as a full matrix.
std::vector<Complex> system_of(const Literal& a, bool lower, bool unit, std::string_view op) {
  std::int64_t n = a.shape()[0];
  auto in = a.span<Complex>();
  std::vector<Complex> out(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      Complex x = in[static_cast<std::size_t>(i * n + j)];
      if (lower ? j > i : j < i) x = 0;
      if (i == j && unit) x = 1;
      if (op == "ADJOINT") x = std::conj(x);
      out[static_cast<std::size_t>(op == "NO_TRANSPOSE" ? i * n + j : j * n + i)] = x;
    }
  return out;
}

TEST(triangular_solve, solves_what_it_says) {
  constexpr std::int64_t n = 5, m = 3;
  for (int k = 0; k < 8; ++k)
    for (const char* op : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}) {
      bool left = k & 1, lower = k & 2, unit = k & 4;
      Literal a = complex_matrix({n, n}, 3),
              rhs = complex_matrix(left ? Shape{n, m} : Shape{m, n}, 4);
      Block block;
      Builder b(block);
      Value *matrix = block.add_argument(a.type()), *side = block.add_argument(rhs.type());
      block.results = {triangular_solve(b, matrix, side, left, lower, unit, op)};
      Literal solved = evaluate(block, std::vector<Literal>{a, rhs})[0];
      std::vector<Complex> t = system_of(a, lower, unit, op);
      auto x = solved.span<Complex>(), want = rhs.span<Complex>();
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t v = 0; v < m; ++v) {
          Complex sum = 0;
          for (std::int64_t j = 0; j < n; ++j)
            sum += left ? t[static_cast<std::size_t>(i * n + j)] *
                              x[static_cast<std::size_t>(j * m + v)]
                        : x[static_cast<std::size_t>(v * n + j)] *
                              t[static_cast<std::size_t>(j * n + i)];
          EXPECT_LT(std::abs(sum - want[static_cast<std::size_t>(left ? i * m + v : v * n + i)]),
                    1e-9)
              << k << " " << op;
        }
    }
}

TEST(cholesky, of_a_complex_matrix_multiplies_back) {
  constexpr std::int64_t n = 4;
  Literal a = complex_matrix({n, n}, 5);
  auto in = a.mutable_span<Complex>();
  for (std::int64_t i = 0; i < n; ++i)
    in[static_cast<std::size_t>(i * n + i)] = Complex(6, 7);  // the imaginary part is not seen
  Block block;
  Builder b(block);
  block.results =
      b.create("stablehlo.cholesky", {block.add_argument(a.type())}, {{"lower", false}}).results();
  Literal factor = evaluate(block, std::vector<Literal>{a})[0];
  auto u = factor.span<Complex>();
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = i; j < n; ++j) {
      Complex sum = 0;
      for (std::int64_t k = 0; k < n; ++k)
        sum += std::conj(u[static_cast<std::size_t>(k * n + i)]) *
               u[static_cast<std::size_t>(k * n + j)];
      Complex want = i == j ? Complex(6, 0) : in[static_cast<std::size_t>(i * n + j)];
      EXPECT_LT(std::abs(sum - want), 1e-12) << i << " " << j;
    }
}

using cholesky_ = testing::Constraint;
TEST_F(cholesky_, i1) {
  EXPECT_REFUSED(create("stablehlo.cholesky", {i32({2, 2})}, triangle_of(true)),
                 "cholesky: (I1) takes floats");
}
TEST_F(cholesky_, c2) {
  EXPECT_REFUSED(create("stablehlo.cholesky", {f32({2})}, triangle_of(true)),
                 "(C2) takes matrices, got tensor<2xf32>");
}
TEST_F(cholesky_, c3) {
  EXPECT_REFUSED(create("stablehlo.cholesky", {f32({2, 3})}, triangle_of(true)),
                 "(C3) the matrices must be square");
}

using triangular_solve_ = testing::Constraint;
TEST_F(triangular_solve_, c1) {
  EXPECT_REFUSED(create("stablehlo.triangular_solve", {f32({2, 2}), array(DType::f64, {2, 2})},
                        flags(true, true, true, "TRANSPOSE")),
                 "(C1)");
}
TEST_F(triangular_solve_, c2) {
  EXPECT_REFUSED(create("stablehlo.triangular_solve", {f32({2, 2}), f32({2})},
                        flags(true, true, true, "TRANSPOSE")),
                 "(C2) takes matrices of one rank");
}
TEST_F(triangular_solve_, c3) {
  EXPECT_REFUSED(create("stablehlo.triangular_solve", {f32({2, 3}), f32({2, 2})},
                        flags(true, true, true, "TRANSPOSE")),
                 "(C3) a must be square");
  EXPECT_REFUSED(create("stablehlo.triangular_solve", {f32({2, 2}), f32({2, 3})},
                        flags(false, true, true, "TRANSPOSE")),
                 "(C3) dimension 1 of");
  EXPECT_REFUSED(create("stablehlo.triangular_solve", {f32({4, 2, 2}), f32({3, 2, 3})},
                        flags(true, true, true, "TRANSPOSE")),
                 "(C3) dimension 0 differs");
}

}  // namespace
}  // namespace strata::op
