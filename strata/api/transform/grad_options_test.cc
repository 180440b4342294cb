// What derivatives take besides a function: has_aux, holomorphic, allow_int. Expected numbers are
// upstream's.
#include "strata/api/testing.h"

namespace strata {
namespace {

using testing::expect_array;
using ::testing::HasSubstr;
using testing::message_of;

using Complex = std::complex<float>;

Array points() { return array(std::vector<Complex>{{1, 2}, {0.5f, -1}}); }

/// Real parts, then imaginary parts.
void expect_complex(const Array& x, const std::string& type, const std::vector<double>& real,
                    const std::vector<double>& imaginary) {
  EXPECT_EQ(testing::type_of(x), type);
  EXPECT_EQ(numpy::real(x).to_vector<double>(), real);
  EXPECT_EQ(numpy::imag(x).to_vector<double>(), imaginary);
}

const auto with_aux = [](Array x) {
  return std::pair(stack({x[0] * x[1], x[0] + x[1], x[0]}), std::vector<Array>{x * 10, cos(x[0])});
};

TEST(HasAux, OfJacobiansIsTheValueBesideThem) {
  testing::shows_names("jacfwd jacrev hessian");
  const Array x = array({2.f, 3.f});
  auto check = [&](const auto& of) {
    const auto [jacobian, aux] = of(x);
    expect_array(jacobian, "f32[3,2]", {3, 2, 1, 1, 1, 0});
    ASSERT_EQ(aux.size(), 2u);
    expect_array(aux[0], "f32[2]", {20, 30});
    expect_array(aux[1], "f32[]", {std::cos(2.0)});
  };
  check(jacfwd(with_aux, has_aux));
  check(jacrev(with_aux, has_aux));
  check(jit(jacfwd(with_aux, has_aux)));
  check(jit(jacrev(with_aux, has_aux)));
  const auto [second, aux] =
      hessian([](Array x) { return std::pair(sum(x * x * x), x + 1); }, has_aux)(array({1.f, 2.f}));
  expect_array(second, "f32[2,2]", {6, 0, 0, 12});
  expect_array(aux, "f32[2]", {2, 3});
}

TEST(HasAux, LeavesTreesOfSeveralArgumentsAsTheyAre) {
  auto f = [](Array x, Array y) { return std::tuple(std::pair(x * y, sum(x)), array({7, 8})); };
  const Array x = array({2.f, 3.f}), y = array(5.f);
  auto check = [&](const auto& of) {
    const auto [jacobian, aux] = of(x, y);
    const auto& [product, total] = jacobian;
    expect_array(std::get<0>(product), "f32[2,2]", {5, 0, 0, 5});
    expect_array(std::get<1>(product), "f32[2]", {2, 3});
    expect_array(std::get<0>(total), "f32[2]", {1, 1});
    expect_array(std::get<1>(total), "f32[]", {0});
    expect_array(aux, "i32[2]", {7, 8});
  };
  check(jacfwd<0, 1>(f, has_aux));
  check(jacrev<0, 1>(f, has_aux));
}

TEST(HasAux, OfJvpVjpAndLinearizeIsTheThirdResult) {
  testing::shows_names("jvp vjp linearize");
  auto f = [](Array x, Array y) { return std::pair(x * y, std::pair(x + y, array({1, 2}))); };
  const auto [value, tangent, aux] =
      jvp(f, std::tuple(array(2.f), array(3.f)), std::tuple(array(1.f), array(10.f)), has_aux);
  expect_array(value, "f32[]", {6});
  expect_array(tangent, "f32[]", {23});
  expect_array(aux.first, "f32[]", {5});
  expect_array(aux.second, "i32[2]", {1, 2});
  const auto [v, pullback, more] = vjp(f, 2.f, 3.f, has_aux);
  expect_array(v, "f32[]", {6});
  expect_array(more.first, "f32[]", {5});
  const auto [gx, gy] = pullback(array(10.f));
  expect_array(gx, "f32[]", {30});
  expect_array(gy, "f32[]", {20});
  const auto [w, push, besides] = linearize(f, 2.f, 3.f, has_aux);
  expect_array(w, "f32[]", {6});
  expect_array(push(array(1.f), array(10.f)), "f32[]", {23});
  expect_array(besides.first, "f32[]", {5});
}

TEST(HasAux, IsDifferentiatedByWhatStandsAroundIt) {
  auto aux_of_vjp = [](Array x) {
    return std::get<2>(vjp([](Array y) { return std::pair(y, y * y); }, x, has_aux));
  };
  expect_array(grad(aux_of_vjp)(3.f), "f32[]", {6});
  auto aux_of_jacobian = [](Array x) {
    return std::get<1>(jacrev([](Array y) { return std::pair(y, y * y); }, has_aux)(x));
  };
  expect_array(grad(aux_of_jacobian)(3.f), "f32[]", {6});
  auto aux_of_columns = [](Array x) {
    return std::get<1>(jacfwd([](Array y) { return std::pair(y, y * y); }, has_aux)(x));
  };
  expect_array(vmap(grad(aux_of_columns))(array({3.f, 4.f})), "f32[2]", {6, 8});
}

TEST(Holomorphic, DerivativesAreThoseOfComplexAnalysis) {
  testing::shows_names("grad value_and_grad jacfwd jacrev hessian");
  auto cubes = [](Array z) { return sum(z * z * z); };
  auto squares = [](Array z) { return z * z; };
  expect_complex(grad(cubes, {.holomorphic = true})(points()), "c64[2]", {-9, -2.25}, {12, -3});
  const auto [value, gradient] = value_and_grad(cubes, {.holomorphic = true})(points());
  expect_complex(value, "c64[]", {-12.375}, {-1.75});
  expect_complex(gradient, "c64[2]", {-9, -2.25}, {12, -3});
  expect_complex(jacfwd(squares, {.holomorphic = true})(points()), "c64[2,2]", {2, 0, 0, 1},
                 {4, 0, 0, -2});
  expect_complex(jacrev(squares, {.holomorphic = true})(points()), "c64[2,2]", {2, 0, 0, 1},
                 {4, 0, 0, -2});
  expect_complex(hessian(cubes, {.holomorphic = true})(points()), "c64[2,2]", {6, 0, 0, 3},
                 {12, 0, 0, -6});
  auto with_value = [&](Array z) { return std::pair(z * z, z); };
  expect_complex(jacrev(with_value, has_aux, {.holomorphic = true})(points()).second, "c64[2]",
                 {1, 0.5}, {2, -1});
}

TEST(Holomorphic, OthersMixAsUpstream) {
  expect_complex(grad([](Array z) { return sum(square(abs(z))); })(points()), "c64[2]", {2, 1},
                 {-4, 2});
  expect_complex(jacrev([](Array z) { return numpy::real(z * z); })(points()), "c64[2,2]",
                 {2, 0, 0, 1}, {4, 0, 0, -2});
  auto turned = [](Array x) { return x * Array(Complex(1, 2)); };
  expect_complex(jacfwd(turned)(array({1.f, 2.f})), "c64[2,2]", {1, 0, 0, 1}, {2, 0, 0, 2});
}

TEST(Holomorphic, WhatIsNotIsRefused) {
  const Array z = points(), x = array({1.f, 2.f});
  auto square_of = [](Array z) { return z * z; };
  auto total = [](Array z) { return sum(z * z); };
  EXPECT_THAT(
      message_of([&] { (void)grad(total, {.holomorphic = true})(x); }),
      HasSubstr("grad: argument 0 is f32[2]: holomorphic functions are of complex numbers"));
  EXPECT_THAT(
      message_of(
          [&] { (void)grad([](Array z) { return sum(abs(z)); }, {.holomorphic = true})(z); }),
      HasSubstr(
          "grad: the function returns f32[]: holomorphic functions result in complex numbers"));
  EXPECT_THAT(message_of([&] { (void)grad(total)(z); }),
              HasSubstr("grad: the function returns c64[]: floats are needed; for a "
                        "holomorphic function say {.holomorphic = true}, for others use vjp"));
  EXPECT_THAT(message_of([&] { (void)jacfwd(square_of)(z); }),
              HasSubstr("jacfwd: argument 0 is c64[2]: real arguments are needed; for a "
                        "holomorphic function say {.holomorphic = true}, for others use jvp"));
  EXPECT_THAT(message_of([&] { (void)jacfwd(square_of, {.holomorphic = true})(x); }),
              HasSubstr("jacfwd: argument 0 is f32[2]: holomorphic"));
  EXPECT_THAT(message_of([&] {
                (void)jacfwd([](Array z) { return numpy::real(z); }, {.holomorphic = true})(z);
              }),
              HasSubstr("jacfwd: the function returns f32[2]: holomorphic"));
  EXPECT_THAT(message_of([&] { (void)jacrev(square_of)(z); }),
              HasSubstr("jacrev: the function returns c64[2]: floats are needed"));
  EXPECT_THAT(
      message_of([&] { (void)jacrev([](Array x) { return x.astype(int32); })(x); }),
      HasSubstr("jacrev: the function returns i32[2]: floats are needed; for others use vjp"));
  EXPECT_THAT(message_of([&] { (void)hessian(total)(z); }),
              HasSubstr("jacfwd: argument 0 is c64[2]: real arguments are needed"));
}

TEST(AllowInt, DerivativesByIntegersAreZeros) {
  auto f = [](Array x, Array i) { return sum(x * i); };
  const Array x = array({1.f, 2.f}), i = array({3, 4});
  const auto [gx, gi] = grad<0, 1>(f, {.allow_int = true})(x, i);
  expect_array(gx, "f32[2]", {3, 4});
  expect_array(gi, "i32[2]", {0, 0});
  const auto [jx, ji] =
      jacrev<0, 1>([](Array x, Array i) { return x * i; }, {.allow_int = true})(x, i);
  expect_array(jx, "f32[2,2]", {3, 0, 0, 4});
  expect_array(ji, "i32[2,2]", {0, 0, 0, 0});
  EXPECT_THAT(message_of([&] { (void)grad<1>(f)(x, i); }),
              HasSubstr("grad: argument 1 is i32[2]: only floats have derivatives (under "
                        "{.allow_int = true} those of integers are zeros)"));
}

TEST(GradOptions, HasAuxSpelledOut) {
  auto f = [](Array x) { return std::pair(sum(x * x), x + 1); };
  auto g = [](Array x) { return sum(x * x); };
  const Array x = array({1.f, 2.f});
  auto check = [&](const auto& value_and_grad_of, const auto& grad_of) {
    const auto [value, by_x] = value_and_grad_of(x);
    expect_array(value.first, "f32[]", {5});
    expect_array(value.second, "f32[2]", {2, 3});
    expect_array(by_x, "f32[2]", {2, 4});
    const auto [gradient, aux] = grad_of(x);
    expect_array(gradient, "f32[2]", {2, 4});
    expect_array(aux, "f32[2]", {2, 3});
  };
  check(value_and_grad(f, has_aux), grad(f, has_aux));
  check(value_and_grad(f, {.has_aux = true}), grad(f, {.has_aux = true}));
  check(value_and_grad<0>(f, has_aux, {.allow_int = true}), grad<0>(f));
  expect_array(grad(g, {.has_aux = false})(x), "f32[2]", {2, 4});
  EXPECT_THAT(message_of([&] { grad(g, {.has_aux = true})(x); }),
              HasSubstr("has_aux is true, but the function returns the loss alone"));
  EXPECT_THAT(message_of([&] { value_and_grad(f, {.has_aux = false})(x); }),
              HasSubstr("has_aux is false, but the function returns pair{loss, aux}"));
}

}  // namespace
}  // namespace strata
