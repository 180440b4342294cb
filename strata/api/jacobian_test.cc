// Matrices of derivatives: shapes, several arguments, trees, and both modes alike.
#include "strata/api/testing.h"

namespace strata {
namespace {

using testing::expect_array;
using testing::message_of;

struct Line {
  Array w, b;
  STRATA_FIELDS(w, b)
};

TEST(Jacobian, HasTheShapeOfResultThenArgument) {
  testing::shows_names("jacfwd jacrev hessian");
  auto f = [](Array x) { return stack({x[0] * x[1], x[0] + x[1], x[0]}); };
  const std::vector<double> jacobian = {3, 2, 1, 1, 1, 0};
  expect_array(jacfwd(f)(array({2.f, 3.f})), "f32[3,2]", jacobian);
  expect_array(jacrev(f)(array({2.f, 3.f})), "f32[3,2]", jacobian);
  expect_array(jit(jacfwd(f))(array({2.f, 3.f})), "f32[3,2]", jacobian);
  auto rows = [](Array x) { return x * 2; };
  EXPECT_EQ(testing::type_of(jacfwd(rows)(zeros({2, 0}))), "f32[2,0,2,0]");
  EXPECT_EQ(testing::type_of(jacrev(rows)(zeros({2, 3}))), "f32[2,3,2,3]");
  expect_array(jacfwd(rows)(1.0f), "f32[]", {2});
  expect_array(hessian([](Array x) { return x * x * x; })(2.0f), "f32[]", {12});
}

TEST(Jacobian, OfSeveralArgumentsIsATuple) {
  auto f = [](Array x, int power, Array y) {
    return stack({x[0] * y, x[1] * y * y * static_cast<float>(power)});
  };
  const Array x = array({2.f, 3.f}), y = array(5.f);
  auto check = [&](const auto& jacobian) {
    const auto& [jx, jy] = jacobian;
    expect_array(jx, "f32[2,2]", {5, 0, 0, 50});
    expect_array(jy, "f32[2]", {2, 60});
  };
  check(jacfwd<0, 2>(f)(x, 2, y));
  check(jacrev<0, 2>(f)(x, 2, y));
  expect_array(jacfwd<2>(f)(x, 2, y), "f32[2]", {2, 60});
  const auto [jy, jx] =
      jacrev<2, 0>(f)(x, 2, y);  // in the order of the numbers, as upstream gives them
  expect_array(jy, "f32[2]", {2, 60});
  expect_array(jx, "f32[2,2]", {5, 0, 0, 50});
}

TEST(Jacobian, OfATreeIsATreeOfTrees) {
  auto f = [](Line p, Array x) { return std::pair(p.w * x + p.b, sum(x) * p.b); };
  const Line p{.w = array({2.f, 3.f}), .b = array(1.f)};
  const Array x = array({10.f, 20.f});
  auto check = [&](const auto& jacobian) {
    const auto& [first, second] = jacobian;
    expect_array(first.w, "f32[2,2]", {10, 0, 0, 20});
    expect_array(first.b, "f32[2]", {1, 1});
    expect_array(second.w, "f32[2]", {0, 0});
    expect_array(second.b, "f32[]", {30});
  };
  check(jacfwd(f)(p, x));
  check(jacrev(f)(p, x));
  const std::pair<Array, Array> by_x = jacfwd<1>(f)(p, x);
  expect_array(by_x.first, "f32[2,2]", {2, 0, 0, 3});
  expect_array(by_x.second, "f32[2]", {1, 1});
  const std::vector<std::tuple<Array, Array>> listed =
      jacrev<0, 1>([](Array a, Array b) { return std::vector<Array>{a * b, a}; })(3.f, 4.f);
  expect_array(std::get<1>(listed[0]), "f32[]", {3});
  expect_array(std::get<0>(listed[1]), "f32[]", {1});
  const std::array<Line, 2> both =
      jacfwd([](Line q) { return std::array<Array, 2>{sum(q.w), q.b}; })(p);
  expect_array(both[0].w, "f32[2]", {1, 1});
  expect_array(both[1].b, "f32[]", {1});
}

TEST(Jacobian, SecondDerivativesOfSeveralArguments) {
  expect_array(hessian([](Array x) { return sum(x * x * x); })(array({1.f, 2.f})), "f32[2,2]",
               {6, 0, 0, 12});
  auto f = [](Array x, Array y) { return sum(x * x) * y * y; };
  const auto [of_x, of_y] = hessian<0, 1>(f)(array({1.f, 2.f}), 3.f);
  expect_array(std::get<0>(of_x), "f32[2,2]", {18, 0, 0, 18});
  expect_array(std::get<1>(of_x), "f32[2]", {12, 24});
  expect_array(std::get<0>(of_y), "f32[2]", {12, 24});
  expect_array(std::get<1>(of_y), "f32[]", {10});
  expect_array(hessian<1>(f)(array({1.f, 2.f}), 3.f), "f32[]", {10});
}

TEST(Jacobian, IntegersHaveNone) {
  auto f = [](Array x, Array i) { return x * i; };
  EXPECT_THAT(message_of([&] { (void)jacfwd<1>(f)(2.f, array({1, 2})); }),
              ::testing::HasSubstr("jacfwd: argument 1 is i32[2]: only floats have derivatives"));
  EXPECT_THAT(message_of([&] { (void)(jacrev<0, 1>(f)(2.f, array({1, 2}))); }),
              ::testing::HasSubstr("jacrev: argument 1 is i32[2]: only floats have derivatives"));
  expect_array(jacrev(f)(2.f, array({1, 2})), "f32[2]", {1, 2});
}

}  // namespace
}  // namespace strata
