// Every elementary function against MPFR. Prints the largest error of each, in units of the last
// place.
//
// STRATA_SAMPLES=100000 takes that many inputs for each function instead of a few thousand.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include "strata/loop/math/math.h"
#include "strata/loop/testing/truth.h"

namespace strata::loop::math {
namespace {

using testing::Number;
using testing::ulps;

/// Inputs of all kinds: any bits, magnitudes where functions live, neighbours of 1, neighbours of
/// multiples of pi/2.
template <class T>
class Inputs {
 public:
  T next() {
    switch (count_++ % 4) {
      case 0: return any_bits();
      case 1: return signed_power(-30, 11);
      case 2: return signed_power(-3, 5);
      default:
        return count_ % 8 == 0 ? T(1) + signed_power(-std::numeric_limits<T>::digits, -1)
                               : quarter_turns();
    }
  }

 private:
  T any_bits() {
    if constexpr (sizeof(T) == 4)
      return std::bit_cast<T>(static_cast<std::uint32_t>(random_()));
    else
      return std::bit_cast<T>(static_cast<std::uint64_t>(random_()));
  }
  T signed_power(int low, int high) {
    double magnitude = std::exp2(std::uniform_real_distribution<double>(low, high)(random_));
    return static_cast<T>(random_() & 1 ? magnitude : -magnitude);
  }
  T quarter_turns() { return static_cast<T>(std::floor(signed_power(0, 40)) * 1.5707963267948966); }
  std::mt19937_64 random_{1};
  std::uint64_t count_ = 0;
};

int samples(int usual) {
  const char* wanted = std::getenv("STRATA_SAMPLES");
  return wanted ? std::atoi(wanted) : usual;
}

void expect_within(double bound, double worst, std::string_view name, const char* format, double x,
                   double y) {
  std::printf("%-9s %s  %.4f ulp  at %a %a\n", std::string(name).c_str(), format, worst, x, y);
  EXPECT_LE(worst, bound) << name << " of " << format;
}

/// As math.h says.
template <class T>
double bound(std::string_view name) {
  if (name == "erf" || (name == "erfc" && sizeof(T) == 4)) return 2;
  if (sizeof(T) == 4) return 1;
  for (std::string_view f : {"erfc", "erf_inv", "sinh", "cosh", "asinh", "acosh", "atanh",
                             "bessel_i0e", "bessel_i1e", "lgamma", "digamma"})
    if (name == f) return 3;
  return 1;
}

/// MPFR takes long over these.
int samples_of(std::string_view name) {
  for (std::string_view slow : {"erf_inv", "lgamma", "digamma", "bessel_i0e", "bessel_i1e"})
    if (name == slow) return samples(8000) / 8;
  return samples(8000);
}

template <class T>
void check_unary(const UnaryFunction& function, T (*scalar)(T), const char* format) {
  Inputs<T> inputs;
  Number in, truth;
  double worst = 0, at = 0;
  for (int i = samples_of(function.name); i-- > 0;) {
    T x = inputs.next();
    mpfr_set_d(in.value, x, MPFR_RNDN);
    testing::unary_truth(function.name)(truth.value, in.value, MPFR_RNDN);
    double error = ulps(scalar(x), truth);
    if (error > worst) worst = error, at = x;
  }
  expect_within(bound<T>(function.name), worst, function.name, format, at, 0);
}

template <class T>
void check_binary(const BinaryFunction& function, T (*scalar)(T, T), const char* format) {
  Inputs<T> first, second;
  second.next();
  Number in_x, in_y, truth;
  double worst = 0, at_x = 0, at_y = 0;
  for (int i = samples(8000) * 4; i-- > 0;) {
    T x = first.next(), y = second.next();
    if (i % 5 == 0) second.next();
    mpfr_set_d(in_x.value, x, MPFR_RNDN);
    mpfr_set_d(in_y.value, y, MPFR_RNDN);
    testing::binary_truth(function.name)(truth.value, in_x.value, in_y.value, MPFR_RNDN);
    double error = ulps(scalar(x, y), truth);
    if (error > worst) worst = error, at_x = x, at_y = y;
  }
  expect_within(1, worst, function.name, format, at_x, at_y);
}

TEST(Accuracy, UnaryFunctionsOfF32) {
  for (const UnaryFunction& function : unary_functions())
    check_unary<float>(function, function.f32, "f32");
}
TEST(Accuracy, UnaryFunctionsOfF64) {
  for (const UnaryFunction& function : unary_functions())
    check_unary<double>(function, function.f64, "f64");
}
TEST(Accuracy, BinaryFunctionsOfF32) {
  for (const BinaryFunction& function : binary_functions())
    if (function.name == "pow" || function.name == "atan2")
      check_binary<float>(function, function.f32, "f32");
}
TEST(Accuracy, BinaryFunctionsOfF64) {
  for (const BinaryFunction& function : binary_functions())
    if (function.name == "pow" || function.name == "atan2")
      check_binary<double>(function, function.f64, "f64");
}

/// zeta and polygamma where they are ordinary: orders near 1, moderate and large, whole and not.
template <class T>
void check_zeta(T (*scalar)(T, T), const char* name, const char* format, bool whole, double low,
                double high, double bound) {
  std::mt19937_64 random(1);
  auto uniform = [&](double a, double b) {
    return std::uniform_real_distribution<double>(a, b)(random);
  };
  Number in_s, in_q, truth;
  double worst = 0, at_s = 0, at_q = 0;
  for (int i = samples(8000) / 8; i-- > 0;) {
    T s = whole ? T(std::floor(uniform(2, i % 2 ? 8 : 60)))
                : T(1 + std::exp2(uniform(i % 2 ? -40 : -3, 6)));
    T q = i % 3 && low >= 0 ? T(std::exp2(uniform(-20, 20))) : T(uniform(low, high));
    mpfr_set_d(in_s.value, s, MPFR_RNDN);
    mpfr_set_d(in_q.value, q, MPFR_RNDN);
    testing::binary_truth(name)(truth.value, in_s.value, in_q.value, MPFR_RNDN);
    double error = ulps(scalar(s, q), truth);
    if (error > worst) worst = error, at_s = s, at_q = q;
  }
  expect_within(bound, worst, name, format, at_s, at_q);
}

TEST(Accuracy, ZetaAndPolygamma) {
  check_zeta<float>(zeta, "zeta", "f32", false, 0, 12, 1);
  check_zeta<double>(zeta, "zeta", "f64", false, 0, 12, 3);
  check_zeta<float>(zeta, "zeta", "f32", true, -20, 0, 1);
  check_zeta<float>(polygamma, "polygamma", "f32", true, 0, 12, 1);
  check_zeta<double>(polygamma, "polygamma", "f64", true, 0, 12, 3);
  check_zeta<float>(polygamma, "polygamma", "f32", true, -20, 0, 1);
}

TEST(Accuracy, TheDoubleNearestToAMultipleOfHalfPi) {
  double x = 6381956970095103.0 * 0x1p797;
  Number in(x), truth;
  mpfr_cos(truth.value, in.value, MPFR_RNDN);
  EXPECT_LE(ulps(cos(x), truth), 1);
  mpfr_tan(truth.value, in.value, MPFR_RNDN);
  EXPECT_LE(ulps(tan(x), truth), 1);
  mpfr_sin(truth.value, in.value, MPFR_RNDN);
  EXPECT_LE(ulps(sin(x), truth), 1);
}

/// Where `f` changes its sign between `low` and `high`.
template <class F>
double zero_of(const F& f, double low, double high) {
  bool sign = f(low) > 0;
  for (int i = 0; i < 60; ++i) {
    double middle = (low + high) / 2;
    ((f(middle) > 0) == sign ? low : high) = middle;
  }
  return low;
}

/// f32 keeps its ulp beside a zero, where what it is made of cancels.
template <class F>
void check_floats_beside(double zero, const F& f, const char* name) {
  Number truth;
  auto x = static_cast<float>(zero);
  for (float at : {std::nextafter(x, -1e9f), x, std::nextafter(x, 1e9f)}) {
    testing::unary_truth(name)(truth.value, Number(at).value, MPFR_RNDN);
    EXPECT_LE(ulps(f(at), truth), 1) << name << " at " << at;
  }
}

/// Between two poles left of 0 digamma falls through zero, and from -2 on lgamma comes down and
/// goes up through it.
TEST(Accuracy, FloatsBesideZeros) {
  for (int pole = 1; pole <= 100; ++pole) {
    double zero = zero_of([](double x) { return digamma(x); }, -pole + 1e-6, -pole + 1 - 1e-6);
    check_floats_beside(zero, [](float x) { return digamma(x); }, "digamma");
  }
  auto wide = [](double x) { return lgamma(x); };
  auto narrow = [](float x) { return lgamma(x); };
  for (int pole = -3; pole > -17; --pole) {
    check_floats_beside(zero_of(wide, std::nextafter(pole, 0), pole + 0.5), narrow, "lgamma");
    check_floats_beside(zero_of(wide, pole + 0.5, std::nextafter(pole + 1, pole)), narrow,
                        "lgamma");
  }
}

/// The double beside which `f` changes its sign between `low` and `high`, and its neighbours.
template <class F>
void check_zero(const F& f, const char* name, double low, double high, double& worst) {
  low = zero_of(f, low, high);
  high = std::nextafter(low, high);
  Number truth;
  for (double x : {std::nextafter(low, -1e9), low, high, std::nextafter(high, 1e9),
                   low * (1 + 0x1p-30), high * (1 - 0x1p-20)}) {
    testing::unary_truth(name)(truth.value, Number(x).value, MPFR_RNDN);
    double error = ulps(f(x), truth);
    EXPECT_LE(error, 3) << name << " at " << x;
    worst = std::max(worst, error);
  }
}

/// Between two poles left of 0 lgamma has two zeros, from -2 on, and digamma one. Left of -18 no
/// double is between a zero of lgamma and its pole.
TEST(Accuracy, LgammaAndDigammaOfF64BesideTheirZeros) {
  double worst_lgamma = 0, worst_digamma = 0;
  for (double pole = -3; pole > -17; --pole) {
    auto f = [](double x) { return lgamma(x); };
    check_zero(f, "lgamma", std::nextafter(pole, 0), pole + 0.5, worst_lgamma);
    check_zero(f, "lgamma", pole + 0.5, std::nextafter(pole + 1, pole), worst_lgamma);
  }
  for (double pole = -1; pole > -60; --pole)
    check_zero([](double x) { return digamma(x); }, "digamma", pole + 1e-9, pole + 1 - 1e-9,
               worst_digamma);
  std::printf("beside zeros: lgamma %.3f ulp, digamma %.3f ulp\n", worst_lgamma, worst_digamma);
}

/// Results that are subnormal are rounded once, never flushed.
TEST(Accuracy, SubnormalResults) {
  Number truth;
  for (float x = -87.0f; x > -104.5f; x -= 0.0625f) {
    mpfr_exp(truth.value, Number(x).value, MPFR_RNDN);
    EXPECT_LE(ulps(exp(x), truth), 1) << x;
    testing::unary_truth("logistic")(truth.value, Number(x).value, MPFR_RNDN);
    EXPECT_LE(ulps(logistic(x), truth), 1) << x;
  }
  for (double x = -708; x > -746; x -= 0.125) {
    mpfr_exp(truth.value, Number(x).value, MPFR_RNDN);
    EXPECT_LE(ulps(exp(x), truth), 1) << x;
    mpfr_pow(truth.value, Number(0.5).value, Number(-x * 1.4426).value, MPFR_RNDN);
    EXPECT_LE(ulps(pow(0.5, -x * 1.4426), truth), 1) << x;
  }
}

}  // namespace
}  // namespace strata::loop::math
