// Every elementary function against MPFR. Prints the largest error of each, in units of the last place.
//
// STRATA_SAMPLES=100000 takes that many inputs for each function instead of a few thousand.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>
#include <string>

#include "strata/loop/math/math.h"

namespace strata::loop::math {
namespace {

struct Number {
  mpfr_t value;
  explicit Number(double x = 0) {
    mpfr_init2(value, 200);
    mpfr_set_d(value, x, MPFR_RNDN);
  }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mpfr_clear(value); }
};

int logistic_truth(mpfr_t result, const mpfr_t x, mpfr_rnd_t round) {
  mpfr_neg(result, x, round);
  mpfr_exp(result, result, round);
  mpfr_add_ui(result, result, 1, round);
  return mpfr_ui_div(result, 1, result, round);
}
int rsqrt_truth(mpfr_t result, const mpfr_t x, mpfr_rnd_t round) {
  mpfr_sqrt(result, x, round);
  return mpfr_ui_div(result, 1, result, round);
}

using UnaryTruth = int (*)(mpfr_t, const mpfr_t, mpfr_rnd_t);
using BinaryTruth = int (*)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);
const std::map<std::string_view, UnaryTruth> kUnaryTruth = {
    {"exp", mpfr_exp},   {"exp2", mpfr_exp2},          {"expm1", mpfr_expm1}, {"log", mpfr_log},
    {"log2", mpfr_log2}, {"log1p", mpfr_log1p},        {"sin", mpfr_sin},     {"cos", mpfr_cos},
    {"tan", mpfr_tan},   {"tanh", mpfr_tanh},          {"sqrt", mpfr_sqrt},   {"cbrt", mpfr_cbrt},
    {"erf", mpfr_erf},   {"logistic", logistic_truth}, {"rsqrt", rsqrt_truth}};
const std::map<std::string_view, BinaryTruth> kBinaryTruth = {{"pow", mpfr_pow}, {"atan2", mpfr_atan2}};

/// The error of `got` in ulps of the format of T; infinity if it is of the wrong kind (NaN, infinity, sign of zero).
template <class T>
double ulps(T got, const Number& truth) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  using Limits = std::numeric_limits<T>;
  if (mpfr_nan_p(truth.value)) return std::isnan(got) ? 0 : kWrong;
  T nearest = sizeof(T) == 4 ? mpfr_get_flt(truth.value, MPFR_RNDN) : static_cast<T>(mpfr_get_d(truth.value, MPFR_RNDN));
  if (std::isinf(nearest)) return got == nearest ? 0 : kWrong;
  if (mpfr_zero_p(truth.value)) return got == 0 && std::signbit(got) == std::signbit(nearest) ? 0 : kWrong;
  if (!std::isfinite(got) || (got == 0 && std::signbit(got) != std::signbit(nearest))) return kWrong;
  Number error(got);
  mpfr_sub(error.value, error.value, truth.value, MPFR_RNDN);
  long exponent = mpfr_get_exp(truth.value) - Limits::digits;
  mpfr_mul_2si(error.value, error.value, -std::max<long>(exponent, Limits::min_exponent - Limits::digits), MPFR_RNDN);
  return std::fabs(mpfr_get_d(error.value, MPFR_RNDN));
}

/// Inputs of all kinds: any bits, magnitudes where functions live, neighbours of 1, neighbours of multiples of pi/2.
template <class T>
class Inputs {
 public:
  T next() {
    switch (count_++ % 4) {
      case 0: return any_bits();
      case 1: return signed_power(-30, 11);
      case 2: return signed_power(-3, 5);
      default: return count_ % 8 == 0 ? T(1) + signed_power(-std::numeric_limits<T>::digits, -1) : quarter_turns();
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

void expect_within(double bound, double worst, std::string_view name, const char* format, double x, double y) {
  std::printf("%-9s %s  %.4f ulp  at %a %a\n", std::string(name).c_str(), format, worst, x, y);
  EXPECT_LE(worst, bound) << name << " of " << format;
}
double bound(std::string_view name) { return name == "erf" ? 2 : 1; }

template <class T>
void check_unary(const UnaryFunction& function, T (*scalar)(T), const char* format) {
  Inputs<T> inputs;
  Number in, truth;
  double worst = 0, at = 0;
  for (int i = samples(8000); i-- > 0;) {
    T x = inputs.next();
    mpfr_set_d(in.value, x, MPFR_RNDN);
    kUnaryTruth.at(function.name)(truth.value, in.value, MPFR_RNDN);
    double error = ulps(scalar(x), truth);
    if (error > worst) worst = error, at = x;
  }
  expect_within(bound(function.name), worst, function.name, format, at, 0);
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
    kBinaryTruth.at(function.name)(truth.value, in_x.value, in_y.value, MPFR_RNDN);
    double error = ulps(scalar(x, y), truth);
    if (error > worst) worst = error, at_x = x, at_y = y;
  }
  expect_within(bound(function.name), worst, function.name, format, at_x, at_y);
}

TEST(Accuracy, UnaryFunctionsOfF32) {
  for (const UnaryFunction& function : unary_functions()) check_unary<float>(function, function.f32, "f32");
}
TEST(Accuracy, UnaryFunctionsOfF64) {
  for (const UnaryFunction& function : unary_functions()) check_unary<double>(function, function.f64, "f64");
}
TEST(Accuracy, BinaryFunctionsOfF32) {
  for (const BinaryFunction& function : binary_functions()) check_binary<float>(function, function.f32, "f32");
}
TEST(Accuracy, BinaryFunctionsOfF64) {
  for (const BinaryFunction& function : binary_functions()) check_binary<double>(function, function.f64, "f64");
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

/// Results that are subnormal are rounded once, never flushed.
TEST(Accuracy, SubnormalResults) {
  Number truth;
  for (float x = -87.0f; x > -104.5f; x -= 0.0625f) {
    mpfr_exp(truth.value, Number(x).value, MPFR_RNDN);
    EXPECT_LE(ulps(exp(x), truth), 1) << x;
    logistic_truth(truth.value, Number(x).value, MPFR_RNDN);
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
