// Solutions with the derivatives of what they solve: of first and second order, forward and
// reverse, under vmap and jit, beside closed forms and beside derivatives of the solution written
// out.
#include "strata/api/transform/implicit.h"

#include "strata/api/numpy/linalg.h"
#include "strata/api/testing.h"

namespace strata {
namespace {

using testing::expect_array;
using testing::message_of;
namespace nl = numpy::linalg;

/// Newton's iteration on one number, by a loop of unknown length: no derivative goes through it.
const auto newton = [](const auto& f, const Array& guess) {
  auto step = [&](Array x) { return x - f(x) / grad([&](Array v) { return f(v); })(x); };
  return while_loop([&](Array x) { return abs(f(x)) > 1e-6f; }, step, guess);
};
const auto by_division = [](const auto& g, const Array& y) { return y / g(1.0f); };

Array cube_root(const Array& a) {
  return custom_root([&](const Array& x) { return x * x * x - a; }, Array(1.5f), newton,
                     by_division);
}

TEST(CustomRoot, HasTheDerivativesOfARoot) {
  testing::shows_names("lax.custom_root");
  const Array a =
      8.0f;  // x = a^(1/3): x' = a^(-2/3) / 3, x'' = -2/9 a^(-5/3), x''' = 10/27 a^(-8/3)
  EXPECT_NEAR(cube_root(a).item<float>(), 2, 1e-6);
  EXPECT_NEAR(grad(cube_root)(a).item<float>(), 1.0 / 12, 1e-6);
  EXPECT_NEAR(jvp(cube_root, std::tuple(a), std::tuple(Array(1.0f))).second.item<float>(), 1.0 / 12,
              1e-6);
  EXPECT_NEAR(grad(grad(cube_root))(a).item<float>(), -1.0 / 144, 1e-6);
  EXPECT_NEAR(jacfwd(jacfwd(cube_root))(a).item<float>(), -1.0 / 144, 1e-6);
  EXPECT_NEAR(hessian(cube_root)(a).item<float>(), -1.0 / 144, 1e-6);
  EXPECT_NEAR(grad(grad(grad(cube_root)))(a).item<float>(), 10.0 / 27 / 256, 1e-6);
}

TEST(CustomRoot, UnderVmapAndJit) {
  const Array a = array({1.0f, 8.0f, 27.0f});
  const Array roots = vmap(cube_root)(a), slopes = vmap(grad(cube_root))(a);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(roots[{i}].item<float>(), i + 1, 1e-5);
    EXPECT_NEAR(slopes[{i}].item<float>(), 1 / (3.0 * (i + 1) * (i + 1)), 1e-5);
  }
  EXPECT_EQ(jit(vmap(grad(cube_root)))(a).to_vector<float>(), slopes.to_vector<float>());
  EXPECT_EQ(jit(grad(cube_root))(8.0f).item<float>(), grad(cube_root)(8.0f).item<float>());
}

struct Point {
  Array x, y;
  STRATA_FIELDS(x, y)
};

/// Trees; what is returned beside the solution; nothing by the guess.
TEST(CustomRoot, OfATreeWithMoreBesideIt) {
  auto meet = [](const Array& a, const Array& guess) {  // x y = a, x = 2 y: y = sqrt(a / 2)
    auto f = [&](const Point& p) { return Point{p.x * p.y - a, p.x - 2 * p.y}; };
    auto solve = [&](const auto&, const Point& p) {
      const Array y = lax::stop_gradient(sqrt(a / 2)) + 0 * p.y;
      return std::pair(Point{2 * y, y}, Array(7));
    };
    auto tangent_solve = [](const auto& g, const Point& r) {
      const Point u = g(Point{ones_like(r.x), zeros_like(r.y)}),
                  v = g(Point{zeros_like(r.x), ones_like(r.y)});
      const Array det = u.x * v.y - v.x * u.y;
      return Point{(r.x * v.y - v.x * r.y) / det, (u.x * r.y - r.x * u.y) / det};
    };
    return custom_root(f, Point{guess, guess}, solve, tangent_solve);
  };
  const auto [point, steps] = meet(8.0f, 1.0f);
  EXPECT_EQ(point.x.item<float>(), 4);
  EXPECT_EQ(steps.item<int>(), 7);
  auto y = [&](Array a, Array guess) { return meet(a, guess).first.y; };
  const auto [by_a, by_guess] = grad<0, 1>(y)(8.0f, 1.0f);
  EXPECT_NEAR(by_a.item<float>(), 1.0 / 8, 1e-6);  // 1 / (4 y)
  EXPECT_EQ(by_guess.item<float>(), 0);
  EXPECT_NEAR(grad([&](Array a) { return grad<0>(y)(a, Array(1.0f)); })(8.0f).item<float>(),
              -1.0 / 128, 1e-6);  // -1 / (16 y^3)
}

TEST(CustomRoot, ErrorsShowTheTypes) {
  auto f = [](const Array& x) { return x; };
  auto wide = [](const auto&, const Array&) { return zeros({2}); };
  EXPECT_THAT(message_of([&] { (void)custom_root(f, Array(1.0f), wide, by_division); }),
              ::testing::HasSubstr("custom_root: solve returns (f32[2]), expected (f32[])"));
  EXPECT_THAT(message_of([&] {
                (void)custom_root(
                    f, array({1, 2}), [](const auto&, const Array& x) { return x; },
                    [](const auto&, const Array& y) { return y; });
              }),
              ::testing::HasSubstr("custom_root: floats are solved for, got i32[2]"));
}

// ---- systems -----------------------------------------------------------------------------------
Array matrix() {
  return array({4.0f, 1.0f, -1.0f, 0.5f, 3.0f, 0.0f, 1.0f, 2.0f, 5.0f}).reshape({3, 3});
}

Array rhs() { return array({1.0f, -2.0f, 3.0f}); }

/// Jacobi's iteration by a loop of unknown length, of systems with this diagonal; and how many
/// steps it took.
auto jacobi(const Array& diagonal) {
  return [=](const auto& product, const Array& b) {
    using State = std::pair<Array, Array>;
    auto is_far = [&](const State& s) {
      return (max(abs(product(s.first) - b)) > 1e-6f * max(abs(b))) & (s.second < 100);
    };
    auto step = [&](const State& s) {
      return State(s.first + (b - product(s.first)) / diagonal, s.second + 1);
    };
    return while_loop(is_far, step, State(b / diagonal, Array(0)));
  };
}
/// Systems of a, solved by that; `exactly` by a factorisation that derivatives go through.
Array iterated(const Array& a, const Array& b) {
  const Array diagonal = lax::stop_gradient(numpy::diagonal(a));
  return custom_linear_solve([&](const Array& x) { return matmul(a, x); }, b, jacobi(diagonal),
                             jacobi(diagonal))
      .first;
}
Array exactly(const Array& a, const Array& b) { return nl::solve(a, b); }

template <class Solve>
auto loss(Solve solve) {
  return [=](const Array& a, const Array& b) {
    return sum(array({1.0f, 2.0f, 3.0f}) * square(solve(a, b)));
  };
}
void expect_near(const Array& got, const Array& want) {
  EXPECT_TRUE(numpy::allclose(got, want, {.rtol = 1e-4, .atol = 1e-5}).item<bool>())
      << got << "\ninstead of\n"
      << want;
}

TEST(CustomLinearSolve, HasTheDerivativesOfASystem) {
  testing::shows_names("lax.custom_linear_solve");
  const Array a = matrix(), b = rhs(), da = numpy::flip(a), db = array({0.5f, 1.0f, -1.0f});
  expect_near(iterated(a, b), exactly(a, b));
  const auto [by_a, by_b] = grad<0, 1>(loss(iterated))(a, b);
  const auto [want_a, want_b] = grad<0, 1>(loss(exactly))(a, b);
  expect_near(by_a, want_a);
  expect_near(by_b, want_b);
  const auto along = [&](auto f) { return jvp(f, std::tuple(a, b), std::tuple(da, db)).second; };
  expect_near(along(iterated), along(exactly));
  auto slope = [&](auto f) { return [=](const Array& b) { return sum(db * grad<1>(f)(a, b)); }; };
  expect_near(grad(slope(loss(iterated)))(b), grad(slope(loss(exactly)))(b));
  auto slope_by_a = [&](auto f) {
    return [=](const Array& a) { return sum(da * grad<0>(f)(a, b)); };
  };
  expect_near(grad(slope_by_a(loss(iterated)))(a), grad(slope_by_a(loss(exactly)))(a));
  expect_near(along([&](const Array& a, const Array& b) { return grad<0>(loss(iterated))(a, b); }),
              along([&](const Array& a, const Array& b) { return grad<0>(loss(exactly))(a, b); }));
}

TEST(CustomLinearSolve, UnderVmapAndJit) {
  const Array as = numpy::stack({matrix(), numpy::flip(matrix())}),
              bs = numpy::stack({rhs(), 2 * rhs()});
  const VmapOptions one_matrix{.in_axes = {std::nullopt, 0}},
      one_side{.in_axes = {0, std::nullopt}};
  expect_near(vmap(iterated)(as, bs), vmap(exactly)(as, bs));
  expect_near(vmap(iterated, one_matrix)(as[{0}], bs), vmap(exactly, one_matrix)(as[{0}], bs));
  expect_near(vmap(iterated, one_side)(as, bs[{0}]), vmap(exactly, one_side)(as, bs[{0}]));
  expect_near(vmap(grad(loss(iterated)))(as, bs), vmap(grad(loss(exactly)))(as, bs));
  expect_near(vmap(grad(loss(iterated)), one_matrix)(as[{0}], bs),
              vmap(grad(loss(exactly)), one_matrix)(as[{0}], bs));
  expect_near(
      grad([&](const Array& a) { return sum(vmap(loss(iterated), one_matrix)(a, bs)); })(as[{0}]),
      grad([&](const Array& a) { return sum(vmap(loss(exactly), one_matrix)(a, bs)); })(as[{0}]));
  EXPECT_EQ(jit(grad(loss(iterated)))(as[{0}], bs[{0}]).to_vector<float>(),
            grad(loss(iterated))(as[{0}], bs[{0}]).to_vector<float>());
}

/// A symmetric system is its own transpose; without word of that, or of how to solve the transposed
/// one, there is no reverse mode.
TEST(CustomLinearSolve, SymmetricOrForwardAlone) {
  const Array a = (matrix() + numpy::matrix_transpose(matrix())) / 2, b = rhs();
  auto solved = [&](bool symmetric) {
    return [=](const Array& b) {
      return custom_linear_solve([&](const Array& x) { return matmul(a, x); }, b,
                                 [](const auto&, const Array& b) {
                                   return nl::solve(
                                       (matrix() + numpy::matrix_transpose(matrix())) / 2, b);
                                 },
                                 {.symmetric = symmetric});
    };
  };
  auto total = [](auto f) { return [=](const Array& b) { return sum(f(b)); }; };
  expect_near(grad(total(solved(true)))(b), nl::solve(a, ones({3})));
  expect_near(jvp(solved(false), std::tuple(b), std::tuple(ones({3}))).second,
              nl::solve(a, ones({3})));
  EXPECT_THAT(message_of([&] { (void)grad(total(solved(false)))(b); }),
              ::testing::HasSubstr("custom_linear_solve: the reverse mode needs transpose_solve"));
}

TEST(CustomLinearSolve, OfATree) {
  const Array c = 3.0f;
  auto product = [&](const Point& p) { return Point{p.x + c * p.y, p.y}; };
  auto solve = [&](const auto&, const Point& r) { return Point{r.x - c * r.y, r.y}; };
  auto across = [&](const auto&, const Point& r) { return Point{r.x, r.y - c * r.x}; };
  auto x = [&](const Array& b) {
    return custom_linear_solve(product, Point{b, 2 * b}, solve, across).x;
  };
  EXPECT_EQ(x(1.0f).item<float>(), -5);
  EXPECT_EQ(grad(x)(1.0f).item<float>(), -5);
  // Before the transposed system is made of it, and in the words of this function.
  auto wide = [](const Array& x) { return concatenate({x, x}); };
  auto same = [](const auto&, const Array& b) { return b; };
  EXPECT_THAT(
      message_of([&] { (void)custom_linear_solve(wide, array({1.0f, 2.0f}), same, same); }),
      ::testing::HasSubstr("custom_linear_solve: matvec returns (f32[4]), expected (f32[2])"));
  EXPECT_THAT(message_of([&] { (void)custom_linear_solve(wide, array({1, 2}), same, same); }),
              ::testing::HasSubstr("custom_linear_solve: floats are solved for, got i32[2]"));
  EXPECT_THAT(
      message_of([&] {
        (void)custom_linear_solve([](const Array& x) { return x.reshape({1}); }, c,
                                  [](const auto&, const Array& b) { return b; });
      }),
      ::testing::HasSubstr("custom_linear_solve: matvec returns (f32[1]), expected (f32[])"));
}

}  // namespace
}  // namespace strata
