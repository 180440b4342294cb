// NumPy's functions: each against values that NumPy gives.
#include <cmath>

#include "strata/api/numpy/constants.h"
#include "strata/api/testing.h"

namespace strata {
namespace {

using testing::expect_array;
using testing::type_of;

TEST(Elementwise, RealFunctions) {
  const std::vector<double> xs = {0.3, 1.0, 2.5};
  Array x = array({0.3f, 1.0f, 2.5f});
  auto check = [&](const Array& y, double (*f)(double)) {
    std::vector<double> expected;
    for (double v : xs) expected.push_back(f(static_cast<float>(v)));
    expect_array(y, "f32[3]", expected);
  };
  check(exp(x), std::exp);
  check(log(x), std::log);
  check(log1p(x), std::log1p);
  check(expm1(x), std::expm1);
  check(sqrt(x), std::sqrt);
  check(cbrt(x), std::cbrt);
  check(sin(x), std::sin);
  check(cos(x), std::cos);
  check(tan(x), std::tan);
  check(tanh(x), std::tanh);
  check(sinh(x), std::sinh);
  check(cosh(x), std::cosh);
  check(erf(x), std::erf);
  check(exp2(x), std::exp2);
  check(log2(x), std::log2);
  check(log10(x), std::log10);
  check(lax::rsqrt(x), [](double v) { return 1 / std::sqrt(v); });
  check(reciprocal(x), [](double v) { return 1 / v; });
  EXPECT_EQ(type_of(exp(array({1, 2}))), "f32[2]");
}

TEST(Elementwise, RoundingAndSigns) {
  Array x = array({-2.5f, -0.5f, 0.5f, 1.5f, 2.7f});
  expect_array(round(x), "f32[5]", {-2, 0, 0, 2, 3});
  expect_array(floor(x), "f32[5]", {-3, -1, 0, 1, 2});
  expect_array(ceil(x), "f32[5]", {-2, 0, 1, 2, 3});
  expect_array(sign(x), "f32[5]", {-1, -1, 1, 1, 1});
  expect_array(abs(x), "f32[5]", {2.5, 0.5, 0.5, 1.5, 2.7});
  expect_array(-x, "f32[5]", {2.5, 0.5, -0.5, -1.5, -2.7});
}

TEST(Elementwise, DivisionAndRemainderFollowPython) {
  Array a = array({7, -7, 7, -7}), b = array({3, 3, -3, -3});
  expect_array(a / b, "f32[4]", {7.0 / 3, -7.0 / 3, -7.0 / 3, 7.0 / 3});
  expect_array(floor_divide(a, b), "i32[4]", {2, -3, -3, 2});
  expect_array(a % b, "i32[4]", {1, 2, -2, -1});
  expect_array(lax::rem(a, b), "i32[4]", {1, -1, 1, -1});
  Array x = array({5.5f, -5.5f}), y = array({2.f, 2.f});
  expect_array(floor_divide(x, y), "f32[2]", {2, -3});
  expect_array(x % y, "f32[2]", {1.5, 0.5});
}

TEST(Elementwise, PowersByIntegersAreProducts) {
  expect_array(power(array({2.f, -3.f}), 3), "f32[2]", {8, -27});
  expect_array(power(array({2.f}), -2), "f32[1]", {0.25});
  expect_array(power(array({2, 3}), 5), "i32[2]", {32, 243});
  expect_array(power(array({4.f}), 0.5f), "f32[1]", {2});
  expect_array(power(array({0.f}), 0), "f32[1]", {1});
}

TEST(Elementwise, LogicAndBits) {
  Array p = array({true, true, false}), q = array({true, false, false});
  expect_array(p & q, "i1[3]", {1, 0, 0});
  expect_array(p | q, "i1[3]", {1, 1, 0});
  expect_array(p ^ q, "i1[3]", {0, 1, 0});
  expect_array(~p, "i1[3]", {0, 0, 1});
  expect_array(array({6}) & 3, "i32[1]", {2});
  expect_array(~array({5}), "i32[1]", {-6});
  expect_array(array({-8}) >> 1, "i32[1]", {-4});
  expect_array(array({1}, uint8) << 3, "ui8[1]", {8});
  expect_array(logical_and(array({2, 0}), array({1, 1})), "i1[2]", {1, 0});
  expect_array(p + q, "i1[3]", {1, 1, 0});
}

TEST(Elementwise, ComparisonsWhereClip) {
  Array x = array({1.f, 2.f, 3.f});
  expect_array(x < 2, "i1[3]", {1, 0, 0});
  expect_array(x >= array({2.f, 2.f, 4.f}), "i1[3]", {0, 1, 0});
  expect_array(x == 2, "i1[3]", {0, 1, 0});
  expect_array(2 != x, "i1[3]", {1, 0, 1});
  expect_array(where(x > 1, x, -x), "f32[3]", {-1, 2, 3});
  expect_array(where(array({true, false}), array({{1, 2}, {3, 4}}), 0), "i32[2,2]", {1, 0, 3, 0});
  expect_array(clip(x, 1.5f, 2.5f), "f32[3]", {1.5, 2, 2.5});
  expect_array(maximum(x, array({nan, 0.f, 9.f})), "f32[3]", {nan, 2, 9});
  EXPECT_TRUE(static_cast<bool>(allclose(x, x + 1e-7f)));
  EXPECT_FALSE(static_cast<bool>(array_equal(x, x + 1)));
  expect_array(isnan(array({nan, 1.f})), "i1[2]", {1, 0});
  expect_array(isinf(array({-inf, 1.f})), "i1[2]", {1, 0});
  expect_array(logaddexp(array({0.f}), 0.f), "f32[1]", {std::log(2.0)});
  expect_array(hypot(array({3.f, 0.f}), array({4.f, 0.f})), "f32[2]", {5, 0});
}

TEST(Reductions, OverAxes) {
  Array x = array({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  expect_array(sum(x), "f32[]", {21});
  expect_array(sum(x, 0), "f32[3]", {5, 7, 9});
  expect_array(sum(x, {0, 1}), "f32[]", {21});
  expect_array(sum(x, {.axis = -1, .keepdims = true}), "f32[2,1]", {6, 15});
  expect_array(mean(x, 1), "f32[2]", {2, 5});
  expect_array(max(x, 0), "f32[3]", {4, 5, 6});
  expect_array(min(x), "f32[]", {1});
  expect_array(prod(x, 1), "f32[2]", {6, 120});
  expect_array(var(x, 1), "f32[2]", {2.0 / 3, 2.0 / 3});
  expect_array(var(x, {.axis = 1, .ddof = 1}), "f32[2]", {1, 1});
  expect_array(std_(x), "f32[]", {std::sqrt(35.0 / 12)});
  expect_array(logsumexp(x, 1), "f32[2]", {3.4076059644, 6.4076059644});
  expect_array(logsumexp(array({-inf, -inf})), "f32[]", {-inf});
  expect_array(any(x > 5, 1), "i1[2]", {0, 1});
  expect_array(all(x > 0), "i1[]", {1});
  expect_array(mean(array({1, 2})), "f32[]", {1.5});
  expect_array(sum(array({true, true})), "i32[]", {2});
  expect_array(sum(array({200, 100}, uint8)), "ui32[]", {300});
}

TEST(Reductions, ArgumentsAndPrefixes) {
  Array x = array({{1.f, 5.f, 5.f}, {7.f, nan, 2.f}});
  expect_array(argmax(x, 1), "i32[2]", {1, 1});
  expect_array(argmin(x, 0), "i32[3]", {0, 1, 1});
  expect_array(argmax(array({3, 9, 9})), "i32[]", {1});
  expect_array(cumsum(array({1, 2, 3, 4, 5})), "i32[5]", {1, 3, 6, 10, 15});
  expect_array(cumsum(array({{1.f, 2.f}, {3.f, 4.f}}), 0), "f32[2,2]", {1, 2, 4, 6});
  expect_array(cumprod(array({1, 2, 3, 4})), "i32[4]", {1, 2, 6, 24});
  expect_array(grad([](Array v) { return sum(cumsum(v)); })(ones({3})), "f32[3]", {3, 2, 1});
}

TEST(Shapes, Rearrangements) {
  expect_array(numpy::pad(array({1, 2}), 1, {.constant_values = 7}), "i32[4]", {7, 1, 2, 7});
  expect_array(numpy::pad(array({{1, 2}}), 1), "i32[3,4]", {0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0});
  Array x = arange(6).reshape({2, 3});
  expect_array(x.reshape({3, -1}), "i32[3,2]", {0, 1, 2, 3, 4, 5});
  expect_array(x.T(), "i32[3,2]", {0, 3, 1, 4, 2, 5});
  expect_array(swapaxes(x, 0, 1), "i32[3,2]", {0, 3, 1, 4, 2, 5});
  EXPECT_EQ(type_of(moveaxis(zeros({2, 3, 4}), 0, -1)), "f32[3,4,2]");
  EXPECT_EQ(type_of(expand_dims(x, {0, -1})), "i32[1,2,3,1]");
  EXPECT_EQ(type_of(squeeze(zeros({1, 3, 1}))), "f32[3]");
  EXPECT_EQ(type_of(squeeze(zeros({1, 3, 1}), 0)), "f32[3,1]");
  expect_array(broadcast_to(array({1, 2}), {2, 2}), "i32[2,2]", {1, 2, 1, 2});
  expect_array(concatenate({x, x + 10}, 0), "i32[4,3]", {0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15});
  expect_array(stack({array({1, 2}), array({3, 4})}, 1), "i32[2,2]", {1, 3, 2, 4});
  expect_array(split(x, 3, 1)[1], "i32[2,1]", {1, 4});
  expect_array(split(arange(5), std::vector<std::int64_t>{2, 3})[2], "i32[2]", {3, 4});
  expect_array(flip(array({1, 2, 3})), "i32[3]", {3, 2, 1});
  expect_array(roll(array({1, 2, 3}), 1, 0), "i32[3]", {3, 1, 2});
  expect_array(repeat(array({1, 2}), 2, 0), "i32[4]", {1, 1, 2, 2});
  expect_array(tile(array({1, 2}), {2, 2}), "i32[2,4]", {1, 2, 1, 2, 1, 2, 1, 2});
  expect_array(pad(array({1, 2}), {{1, 2}}), "i32[5]", {0, 1, 2, 0, 0});
  expect_array(tril(ones({3, 3}, int32)), "i32[3,3]", {1, 0, 0, 1, 1, 0, 1, 1, 1});
  expect_array(triu(ones({3, 3}, int32), 1), "i32[3,3]", {0, 1, 1, 0, 0, 1, 0, 0, 0});
  expect_array(diagonal(arange(9).reshape({3, 3})), "i32[3]", {0, 4, 8});
}

TEST(Products, DotMatmulEinsum) {
  Array a = array({{1.f, 2.f}, {3.f, 4.f}}), b = array({{5.f, 6.f}, {7.f, 8.f}}),
        v = array({1.f, -1.f});
  expect_array(dot(a, b), "f32[2,2]", {19, 22, 43, 50});
  expect_array(dot(a, v), "f32[2]", {-1, -1});
  expect_array(dot(v, v), "f32[]", {2});
  expect_array(matmul(stack({a, b}), b), "f32[2,2,2]", {19, 22, 43, 50, 67, 78, 91, 106});
  expect_array(matmul(a, stack({a, b})), "f32[2,2,2]", {7, 10, 15, 22, 19, 22, 43, 50});
  expect_array(matmul(v, stack({a, b})), "f32[2,2]", {-2, -2, -2, -2});
  expect_array(outer(array({1, 2}), array({3, 4})), "i32[2,2]", {3, 4, 6, 8});
  expect_array(tensordot(a, b), "f32[]", {70});
  expect_array(einsum("ij,jk->ik", a, b), "f32[2,2]", {19, 22, 43, 50});
  expect_array(einsum("ij,jk->ki", a, b), "f32[2,2]", {19, 43, 22, 50});
  expect_array(einsum("ij,ij", a, b), "f32[]", {70});
  expect_array(einsum("ij->j", a), "f32[2]", {4, 6});
  expect_array(einsum("...ij,...jk->...ik", stack({a, b}), stack({b, a})), "f32[2,2,2]",
               {19, 22, 43, 50, 23, 34, 31, 46});
  expect_array(einsum("i,j,k->", v, v, v), "f32[]", {0});
  EXPECT_EQ(type_of(einsum("BTNH,BSNH->BNTS", zeros({2, 3, 4, 5}), zeros({2, 7, 4, 5}))),
            "f32[2,4,3,7]");
}

TEST(NN, Activations) {
  Array x = array({-1.f, 0.f, 2.f});
  expect_array(nn::relu(x), "f32[3]", {0, 0, 2});
  expect_array(nn::sigmoid(x), "f32[3]", {0.26894142, 0.5, 0.88079708});
  expect_array(nn::silu(x), "f32[3]", {-0.26894142, 0, 1.76159416});
  expect_array(nn::gelu(x), "f32[3]", {-0.15880801, 0, 1.9545977}, 1e-5);
  expect_array(nn::gelu(x, false), "f32[3]", {-0.15865526, 0, 1.9544997}, 1e-5);
  expect_array(nn::softplus(x), "f32[3]", {0.31326169, 0.69314718, 2.12692801});
  expect_array(nn::softmax(array({1.f, 2.f, 3.f})), "f32[3]", {0.09003057, 0.24472847, 0.66524096});
  expect_array(nn::softmax(array({1000.f, 1000.f})), "f32[2]", {0.5, 0.5});
  expect_array(nn::log_softmax(array({1.f, 2.f})), "f32[2]", {-1.31326169, -0.31326169});
  expect_array(nn::one_hot(array({1, 0, 5}), 3), "f32[3,3]", {0, 1, 0, 1, 0, 0, 0, 0, 0});
  expect_array(grad([](Array v) { return sum(nn::relu(v)); })(x), "f32[3]", {0, 0, 1});
  const Array g = grad([](Array v) { return nn::softmax(v)[0]; })(array({1.f, 2.f, 3.f}));
  expect_array(g, "f32[3]", {0.08192507, -0.02203304, -0.05989202});
}

TEST(Lax, DynamicSlices) {
  testing::shows_names(
      "lax.dynamic_slice lax.dynamic_update_slice lax.dynamic_index_in_dim "
      "lax.dynamic_update_slice_in_dim");
  Array x = arange(10);
  expect_array(lax::dynamic_slice(x, {Array(3)}, {2}), "i32[2]", {3, 4});
  expect_array(lax::dynamic_slice(x, {Array(9)}, {3}), "i32[3]", {7, 8, 9});
  expect_array(lax::dynamic_slice(x, {array(-3) + 0}, {2}), "i32[2]", {7, 8});
  expect_array(lax::dynamic_update_slice(x, array({70, 80}), {Array(1)}), "i32[10]",
               {0, 70, 80, 3, 4, 5, 6, 7, 8, 9});
  expect_array(lax::dynamic_index_in_dim(x.reshape({5, 2}), 2, 0, false), "i32[2]", {4, 5});
  expect_array(lax::dynamic_update_slice_in_dim(x.reshape({5, 2}), array({{0, 0}}), 4, 0)[4],
               "i32[2]", {0, 0});
  expect_array(lax::erf_inv(array({0.f, 0.5f, -0.9f, 0.9999f, 1.f})), "f32[5]",
               {0, 0.4769362762, -1.1630871537, 2.7510354379, inf}, 1e-5);
  EnableX64 wide;
  expect_array(lax::erf_inv(array(std::vector<double>{0.5, -0.9, 0.999999, 1 - 1e-12})), "f64[4]",
               {0.47693627620446987, -1.1630871536766743, 3.4589107372795, 5.0420318985727}, 1e-9);
}

}  // namespace
}  // namespace strata
