// Functions of complex numbers against MPFR: each part of the result within 4 ulp of itself
// (docs/ulp.md).
#include <gtest/gtest.h>

#include <complex>
#include <cstdio>
#include <random>

#include "strata/loop/testing/complex_truth.h"
#include "strata/op/build.h"
#include "strata/op/evaluate.h"

namespace strata::op {
namespace {

using loop::testing::BigComplex;
using Numbers = std::vector<std::complex<double>>;
constexpr double kBound = 4;

/// Points of all kinds: plain ones, of any size, near the unit circle, near an axis, near 1, near
/// the imaginary unit.
Numbers points(int count, std::uint64_t seed, bool moderate, bool single) {
  std::mt19937_64 random(seed);
  auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  auto power = [&](double low, double high) {
    const double sign = random() & 1 ? 1 : -1;
    return std::copysign(std::exp2(uniform(low, high)), sign);
  };
  // Which of two draws comes first is fixed here, not left to the compiler.
  auto drawn = [](auto real, auto imaginary) {
    const double im = imaginary();
    return std::complex<double>(real(), im);
  };
  double far = moderate ? 6 : 200, tiny = single ? -20 : -45;
  Numbers out;
  for (int i = 0; i < count; ++i) {
    double angle = uniform(-3.2, 3.2);
    std::complex<double> z = drawn([&] { return uniform(-3, 3); }, [&] { return uniform(-3, 3); });
    switch (i % 6) {
      case 1: z = {power(-far / 2, far), power(-far / 2, far)}; break;
      case 2: z = std::polar(1 + power(tiny, -2), angle); break;
      case 3: z = {power(-2, 2), power(tiny, -2)}; break;
      case 4: z = {power(tiny, -2), power(-2, 2)}; break;
      case 5:
        z = drawn([&] { return power(tiny, -2); }, [&] { return power(tiny, -2); });
        z += random() & 1 ? std::complex<double>(1, 0) : std::complex<double>(0, 1);
        break;
      default: break;
    }
    if (single) z = {static_cast<float>(z.real()), static_cast<float>(z.imag())};
    out.push_back(z);
  }
  return out;
}

template <class T>
Literal literal_of(const Numbers& numbers) {
  std::vector<std::complex<T>> cast(numbers.begin(), numbers.end());
  return Literal::of<std::complex<T>>(Shape{static_cast<std::int64_t>(cast.size())}, cast);
}

/// The largest error of a part, over operands given one array each.
template <class T>
double worst_of(const char* name, const std::vector<Numbers>& operands) {
  Block block;
  Literals given;
  for (const Numbers& numbers : operands) {
    given.push_back(literal_of<T>(numbers));
    block.add_argument(given.back().type());
  }
  Builder b(block);
  block.results = b.create(name, block.argument_values()).results();
  Literal result = evaluate(block, given)[0];
  double worst = 0;
  std::complex<double> at[2];
  for (std::size_t i = 0; i < operands[0].size(); ++i) {
    std::vector<BigComplex> in;
    for (const Numbers& numbers : operands) in.emplace_back(numbers[i].real(), numbers[i].imag());
    BigComplex truth = loop::testing::complex_truth(name, in);
    std::complex<T> got = result.span<std::complex<T>>()[i];
    double error = std::max(loop::testing::ulps(got.real(), truth.re.number),
                            loop::testing::ulps(got.imag(), truth.im.number));
    if (error > worst) {
      worst = error;
      for (std::size_t k = 0; k < operands.size(); ++k) at[k] = operands[k][i];
    }
  }
  std::printf("%-32s %s  %.3f ulp  at (%a, %a) (%a, %a)\n", name, sizeof(T) == 4 ? "c64 " : "c128",
              worst, at[0].real(), at[0].imag(), at[1].real(), at[1].imag());
  return worst;
}

int samples() {
  const char* wanted = std::getenv("STRATA_SAMPLES");
  return wanted ? std::atoi(wanted) : 240;
}

TEST(ComplexAccuracy, FunctionsOfOne) {
  for (const char* name : {"stablehlo.exponential",
                           "stablehlo.exponential_minus_one",
                           "stablehlo.log",
                           "stablehlo.log_plus_one",
                           "stablehlo.logistic",
                           "stablehlo.sqrt",
                           "stablehlo.rsqrt",
                           "stablehlo.cbrt",
                           "stablehlo.sine",
                           "stablehlo.cosine",
                           "stablehlo.tan",
                           "stablehlo.tanh",
                           "chlo.sinh",
                           "chlo.cosh",
                           "chlo.asin",
                           "chlo.acos",
                           "chlo.atan",
                           "chlo.asinh",
                           "chlo.acosh",
                           "chlo.atanh"}) {
    EXPECT_LE(worst_of<double>(name, {points(samples(), 1, true, false)}), kBound) << name;
    EXPECT_LE(worst_of<float>(name, {points(samples(), 2, true, true)}), kBound) << name;
  }
}

TEST(ComplexAccuracy, FunctionsOfTwo) {
  for (const char* name : {"stablehlo.multiply", "stablehlo.divide", "stablehlo.atan2"}) {
    EXPECT_LE(worst_of<double>(
                  name, {points(samples(), 3, true, false), points(samples(), 14, true, false)}),
              kBound)
        << name;
    EXPECT_LE(worst_of<float>(
                  name, {points(samples(), 5, true, true), points(samples(), 16, true, true)}),
              kBound)
        << name;
  }
}

/// Exponents w log z of all sizes up to those whose power leaves the range.
TEST(ComplexAccuracy, PowersOfLargeExponents) {
  std::mt19937_64 random(7);
  auto exponents = [&](const Numbers& bases, double most) {
    Numbers out;
    for (const auto& z : bases) {
      std::complex<double> w(std::uniform_real_distribution<double>(-1, 1)(random),
                             std::uniform_real_distribution<double>(-1, 1)(random));
      double size = std::abs((w * std::log(z)).real());
      out.push_back(w * (std::exp2(std::uniform_real_distribution<double>(-4, most)(random)) /
                         std::max(size, 1e-3)));
    }
    return out;
  };
  Numbers wide = points(samples(), 8, false, false), narrow = points(samples(), 8, true, true);
  EXPECT_LE(worst_of<double>("stablehlo.power", {wide, exponents(wide, 9.4)}), kBound);
  Numbers powers = exponents(narrow, 6.4);
  for (auto& w : powers) w = {static_cast<float>(w.real()), static_cast<float>(w.imag())};
  EXPECT_LE(worst_of<float>("stablehlo.power", {narrow, powers}), kBound);
}

}  // namespace
}  // namespace strata::op
