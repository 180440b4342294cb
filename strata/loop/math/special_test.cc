// Values that functions must give exactly: zeros with their signs, infinities, NaN, domain errors
// (C99 Annex F).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "strata/loop/math/math.h"

namespace strata::loop::math {
namespace {

template <class T>
class Special : public ::testing::Test {
 protected:
  static constexpr T inf = std::numeric_limits<T>::infinity(),
                     nan = std::numeric_limits<T>::quiet_NaN();
  static constexpr T largest = std::numeric_limits<T>::max(),
                     tiny = std::numeric_limits<T>::denorm_min();

  struct Case {
    T x, y;
  };
  static void expect(T (*f)(T), const std::vector<Case>& cases) {
    for (const Case& c : cases) expect_equal(f(c.x), c.y, c.x, 0);
  }
  static void expect_equal(T actual, T expected, T x, T y) {
    bool same = std::isnan(expected)
                    ? std::isnan(actual)
                    : actual == expected && std::signbit(actual) == std::signbit(expected);
    EXPECT_TRUE(same) << "of " << x << ", " << y << ": " << actual << ", not " << expected;
  }
};
using Formats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Special, Formats);

TYPED_TEST(Special, Exponentials) {
  using T = TypeParam;
  constexpr T inf = TestFixture::inf, nan = TestFixture::nan, big = TestFixture::largest,
              tiny = TestFixture::tiny;
  this->expect(exp, {{T(0), T(1)},
                     {T(-0.0), T(1)},
                     {inf, inf},
                     {-inf, T(0)},
                     {big, inf},
                     {-big, T(0)},
                     {tiny, T(1)},
                     {nan, nan}});
  this->expect(exp2, {{T(0), T(1)},
                      {T(3), T(8)},
                      {T(-1), T(0.5)},
                      {inf, inf},
                      {-inf, T(0)},
                      {big, inf},
                      {-big, T(0)},
                      {nan, nan}});
  this->expect(expm1, {{T(0), T(0)},
                       {T(-0.0), T(-0.0)},
                       {tiny, tiny},
                       {-tiny, -tiny},
                       {inf, inf},
                       {-inf, T(-1)},
                       {big, inf},
                       {-big, T(-1)},
                       {nan, nan}});
  this->expect(tanh, {{T(0), T(0)},
                      {T(-0.0), T(-0.0)},
                      {tiny, tiny},
                      {-tiny, -tiny},
                      {inf, T(1)},
                      {-inf, T(-1)},
                      {big, T(1)},
                      {nan, nan}});
  this->expect(logistic, {{T(0), T(0.5)},
                          {T(-0.0), T(0.5)},
                          {inf, T(1)},
                          {-inf, T(0)},
                          {big, T(1)},
                          {-big, T(0)},
                          {nan, nan}});
}

TYPED_TEST(Special, PowersOfTwoAreExact) {
  using T = TypeParam;
  using L = std::numeric_limits<T>;
  for (int k = L::min_exponent - L::digits; k < L::max_exponent; ++k) {
    EXPECT_EQ(exp2(T(k)), std::ldexp(T(1), k));
    EXPECT_EQ(log2(std::ldexp(T(1), k)), T(k));
    EXPECT_EQ(pow(T(2), T(k)), std::ldexp(T(1), k));
  }
}

TYPED_TEST(Special, Logarithms) {
  using T = TypeParam;
  constexpr T inf = TestFixture::inf, nan = TestFixture::nan, tiny = TestFixture::tiny;
  for (T (*f)(T) : {static_cast<T (*)(T)>(log), static_cast<T (*)(T)>(log2)})
    this->expect(f, {{T(1), T(0)},
                     {T(0), -inf},
                     {T(-0.0), -inf},
                     {inf, inf},
                     {-inf, nan},
                     {T(-1), nan},
                     {-tiny, nan},
                     {nan, nan}});
  this->expect(log1p, {{T(0), T(0)},
                       {T(-0.0), T(-0.0)},
                       {tiny, tiny},
                       {-tiny, -tiny},
                       {T(-1), -inf},
                       {T(-2), nan},
                       {inf, inf},
                       {-inf, nan},
                       {nan, nan}});
}

TYPED_TEST(Special, Trigonometry) {
  using T = TypeParam;
  constexpr T inf = TestFixture::inf, nan = TestFixture::nan, tiny = TestFixture::tiny;
  this->expect(sin, {{T(0), T(0)},
                     {T(-0.0), T(-0.0)},
                     {tiny, tiny},
                     {-tiny, -tiny},
                     {inf, nan},
                     {-inf, nan},
                     {nan, nan}});
  this->expect(tan, {{T(0), T(0)},
                     {T(-0.0), T(-0.0)},
                     {tiny, tiny},
                     {-tiny, -tiny},
                     {inf, nan},
                     {-inf, nan},
                     {nan, nan}});
  this->expect(cos,
               {{T(0), T(1)}, {T(-0.0), T(1)}, {tiny, T(1)}, {inf, nan}, {-inf, nan}, {nan, nan}});
}

TYPED_TEST(Special, RootsAndErf) {
  using T = TypeParam;
  constexpr T inf = TestFixture::inf, nan = TestFixture::nan, tiny = TestFixture::tiny;
  this->expect(sqrt, {{T(0), T(0)},
                      {T(-0.0), T(-0.0)},
                      {T(4), T(2)},
                      {inf, inf},
                      {-inf, nan},
                      {T(-1), nan},
                      {nan, nan}});
  this->expect(rsqrt, {{T(0), inf},
                       {T(-0.0), -inf},
                       {T(4), T(0.5)},
                       {inf, T(0)},
                       {-inf, nan},
                       {T(-1), nan},
                       {-tiny, nan},
                       {nan, nan}});
  this->expect(cbrt, {{T(0), T(0)},
                      {T(-0.0), T(-0.0)},
                      {T(27), T(3)},
                      {T(-8), T(-2)},
                      {T(1000), T(10)},
                      {inf, inf},
                      {-inf, -inf},
                      {nan, nan}});
  this->expect(erf, {{T(0), T(0)},
                     {T(-0.0), T(-0.0)},
                     {tiny, tiny},
                     {inf, T(1)},
                     {-inf, T(-1)},
                     {T(30), T(1)},
                     {nan, nan}});
}

TYPED_TEST(Special, Angles) {
  using T = TypeParam;
  constexpr T inf = TestFixture::inf, nan = TestFixture::nan, big = TestFixture::largest,
              tiny = TestFixture::tiny;
  const T quarter = T(1.5707963267948966);
  this->expect(asin, {{T(0), T(0)},
                      {T(-0.0), T(-0.0)},
                      {tiny, tiny},
                      {T(1), quarter},
                      {T(-1), -quarter},
                      {T(1.5), nan},
                      {inf, nan},
                      {nan, nan}});
  this->expect(acos, {{T(1), T(0)},
                      {T(0), quarter},
                      {T(-0.0), quarter},
                      {T(-1), T(3.141592653589793)},
                      {T(-2), nan},
                      {-inf, nan},
                      {nan, nan}});
  this->expect(atan, {{T(0), T(0)},
                      {T(-0.0), T(-0.0)},
                      {-tiny, -tiny},
                      {inf, quarter},
                      {-inf, -quarter},
                      {big, quarter},
                      {nan, nan}});
}

TYPED_TEST(Special, Hyperbolic) {
  using T = TypeParam;
  constexpr T inf = TestFixture::inf, nan = TestFixture::nan, big = TestFixture::largest,
              tiny = TestFixture::tiny;
  this->expect(sinh, {{T(0), T(0)},
                      {T(-0.0), T(-0.0)},
                      {tiny, tiny},
                      {big, inf},
                      {-big, -inf},
                      {inf, inf},
                      {-inf, -inf},
                      {nan, nan}});
  this->expect(cosh, {{T(0), T(1)},
                      {T(-0.0), T(1)},
                      {tiny, T(1)},
                      {big, inf},
                      {-big, inf},
                      {inf, inf},
                      {-inf, inf},
                      {nan, nan}});
  this->expect(
      asinh,
      {{T(0), T(0)}, {T(-0.0), T(-0.0)}, {-tiny, -tiny}, {inf, inf}, {-inf, -inf}, {nan, nan}});
  this->expect(acosh,
               {{T(1), T(0)}, {T(0.5), nan}, {T(-3), nan}, {inf, inf}, {-inf, nan}, {nan, nan}});
  this->expect(atanh, {{T(0), T(0)},
                       {T(-0.0), T(-0.0)},
                       {tiny, tiny},
                       {T(1), inf},
                       {T(-1), -inf},
                       {T(1.5), nan},
                       {inf, nan},
                       {nan, nan}});
}

TYPED_TEST(Special, GammaErrorsBessel) {
  using T = TypeParam;
  constexpr T inf = TestFixture::inf, nan = TestFixture::nan, big = TestFixture::largest,
              tiny = TestFixture::tiny;
  this->expect(erfc, {{T(0), T(1)},
                      {T(-0.0), T(1)},
                      {tiny, T(1)},
                      {inf, T(0)},
                      {-inf, T(2)},
                      {big, T(0)},
                      {-big, T(2)},
                      {nan, nan}});
  this->expect(erf_inv, {{T(0), T(0)},
                         {T(-0.0), T(-0.0)},
                         {T(1), inf},
                         {T(-1), -inf},
                         {T(1.5), nan},
                         {-inf, nan},
                         {nan, nan}});
  this->expect(lgamma, {{T(1), T(0)},
                        {T(2), T(0)},
                        {T(0), inf},
                        {T(-0.0), inf},
                        {T(-3), inf},
                        {inf, inf},
                        {-inf, inf},
                        {-big, inf},
                        {nan, nan}});
  this->expect(digamma,
               {{T(0), nan}, {T(-0.0), nan}, {T(-3), nan}, {inf, inf}, {-inf, nan}, {nan, nan}});
  this->expect(bessel_i0e, {{T(0), T(1)}, {T(-0.0), T(1)}, {inf, T(0)}, {-inf, T(0)}, {nan, nan}});
  this->expect(bessel_i1e,
               {{T(0), T(0)}, {T(-0.0), T(-0.0)}, {inf, T(0)}, {-inf, T(-0.0)}, {nan, nan}});
}

TYPED_TEST(Special, ZetaAndPolygamma) {
  using T = TypeParam;
  constexpr T inf = TestFixture::inf, nan = TestFixture::nan;
  struct Pair {
    T x, y, z;
  };
  for (const Pair& c : std::vector<Pair>{{T(1), T(2), inf},
                                         {T(0.5), T(2), nan},
                                         {T(2), T(0), inf},
                                         {T(3), T(0), nan},
                                         {T(2), T(-1), inf},
                                         {T(3), T(-1), nan},
                                         {T(2.5), T(-0.5), nan},
                                         {T(2), inf, T(0)},
                                         {inf, T(1), T(1)},
                                         {inf, T(2), T(0)},
                                         {inf, T(0.5), inf},
                                         {nan, T(1), nan},
                                         {T(2), nan, nan}})
    this->expect_equal(zeta(c.x, c.y), c.z, c.x, c.y);
  for (const Pair& c : std::vector<Pair>{{T(0), T(0), nan},
                                         {T(1), T(0), inf},
                                         {T(2), T(0), nan},
                                         {T(1), T(-2), inf},
                                         {T(-1), T(2), nan},
                                         {T(0.5), T(2), nan},
                                         {T(1), inf, T(0)},
                                         {nan, T(1), nan},
                                         {T(1), nan, nan},
                                         {T(0), T(3), digamma(T(3))}})
    this->expect_equal(polygamma(c.x, c.y), c.z, c.x, c.y);
}

/// The C library's pow and atan2 keep Annex F; all pairs of these.
TYPED_TEST(Special, PairsAsInC) {
  using T = TypeParam;
  constexpr T inf = TestFixture::inf, nan = TestFixture::nan, big = TestFixture::largest,
              tiny = TestFixture::tiny;
  std::vector<T> values = {T(0),   T(1),        T(2), T(3), T(0.5), T(1.5), T(7),
                           T(1e9), T(16777216), big,  tiny, inf,    nan};
  for (std::size_t i = values.size(); i-- > 0;) values.push_back(-values[i]);
  for (T x : values) {
    for (T y : values) {
      T power = std::pow(x, y);
      if (power == 0 || power == 1 || !std::isfinite(power))
        this->expect_equal(pow(x, y), power, x, y);
      else
        EXPECT_NEAR(pow(x, y) / power, 1, 1e-6) << x << ", " << y;
      this->expect_equal(atan2(x, y) + 0 == 0 ? atan2(x, y) : T(1),
                         std::atan2(x, y) == 0 ? std::atan2(x, y) : T(1), x, y);
      if (std::isnan(x) || std::isnan(y))
        EXPECT_TRUE(std::isnan(atan2(x, y)));
      else
        EXPECT_NEAR(atan2(x, y), std::atan2(x, y), 1e-6) << x << ", " << y;
    }
  }
}

}  // namespace
}  // namespace strata::loop::math
