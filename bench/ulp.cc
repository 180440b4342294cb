// ulp: how far the elementary functions are from the truth, as the table of docs/ulp.md.
//
//   ulp                      every 4099th float for each function of f32, 20000 samples of f64, and pairs for those of two
//   ulp --exhaustive         all 2^32 floats, and 10^9 pairs
//   ulp --only exp --stride 97 --threads 1
//   ulp --no-f64             f32 alone
//
// A row per function: the largest error in units of the last place and where. The truth of f32 is a function of f64: the C
// library's, or ours, which is itself held against MPFR; that of f64 is MPFR's. Results of the wrong kind (NaN, infinity,
// sign of zero) are counted, and any of them, or an error above the bound of math.h, ends in exit status 1.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "strata/loop/math/math.h"
#include "strata/loop/testing/truth.h"

namespace {
namespace math = strata::loop::math;
namespace testing = strata::loop::testing;

struct Worst {
  double ulp = 0, x = 0, y = 0;
  std::uint64_t wrong = 0;
  void add(const Worst& other) {
    std::uint64_t sum = wrong + other.wrong;
    if (other.ulp > ulp || (other.wrong && !wrong)) *this = other;
    wrong = sum;
  }
};

/// Compares a result with the truth; a result of the wrong kind counts as `wrong`.
void compare(Worst& worst, float x, float y, float got, double truth) {
  float nearest = static_cast<float>(truth);
  bool kind = std::isnan(truth) == std::isnan(got) && std::isinf(nearest) == std::isinf(got);
  if (kind && std::isnan(truth)) return;
  if (kind && (truth == 0 || std::isinf(got))) kind = std::signbit(got) == std::signbit(nearest) && (truth != 0 || got == 0);
  if (!kind) {
    if (!worst.wrong++) worst.x = x, worst.y = y;
    return;
  }
  if (truth == 0 || std::isinf(got)) return;
  int exponent;
  std::frexp(truth, &exponent);
  double ulp = std::fabs(got - truth) / std::ldexp(1.0, std::max(exponent - 24, -149));
  if (ulp > worst.ulp && !worst.wrong) worst.x = x, worst.y = y;
  worst.ulp = std::max(worst.ulp, ulp);
}

double logistic_truth(double x) { return 1 / (1 + std::exp(-x)); }
double rsqrt_truth(double x) { return 1 / std::sqrt(x); }
double lgamma_truth(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

using Unary = double (*)(double);
using Binary = double (*)(double, double);
const std::map<std::string_view, Unary> kUnaryTruth = {
    {"exp", std::exp},     {"exp2", std::exp2},   {"expm1", std::expm1},         {"log", std::log},      {"log2", std::log2},
    {"log1p", std::log1p}, {"sin", std::sin},     {"cos", std::cos},             {"tan", std::tan},      {"tanh", std::tanh},
    {"sqrt", std::sqrt},   {"cbrt", std::cbrt},   {"erf", std::erf},             {"erfc", std::erfc},    {"asin", std::asin},
    {"acos", std::acos},   {"atan", std::atan},   {"sinh", std::sinh},           {"cosh", std::cosh},    {"asinh", std::asinh},
    {"acosh", std::acosh}, {"atanh", std::atanh}, {"logistic", logistic_truth},  {"rsqrt", rsqrt_truth}, {"lgamma", lgamma_truth}};
const std::map<std::string_view, Binary> kBinaryTruth = {{"pow", std::pow}, {"atan2", std::atan2}};

unsigned threads = 0;

template <class Work>
Worst in_parallel(const Work& work) {
  unsigned count = threads ? threads : std::max(1u, std::thread::hardware_concurrency());
  std::vector<Worst> parts(count);
  std::vector<std::thread> running;
  for (unsigned t = 0; t < count; ++t) running.emplace_back([&, t] { parts[t] = work(t, count); });
  for (auto& thread : running) thread.join();
  Worst all;
  for (const Worst& part : parts) all.add(part);
  return all;
}

Worst sweep(const math::UnaryFunction& function, std::uint64_t stride) {
  auto known = kUnaryTruth.find(function.name);
  Unary truth = known == kUnaryTruth.end() ? function.f64 : known->second;
  return in_parallel([&](unsigned part, unsigned parts) {
    Worst worst;
    for (std::uint64_t u = part * stride; u <= UINT32_MAX; u += parts * stride) {
      float x = std::bit_cast<float>(static_cast<std::uint32_t>(u));
      compare(worst, x, 0, function.f32(x), truth(x));
    }
    return worst;
  });
}

std::uint64_t mix(std::uint64_t z) {  // splitmix64
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Half of the pairs are any bits; half keep the exponents near 1, where results are ordinary. Orders of polygamma are whole.
Worst pairs(const math::BinaryFunction& function, std::uint64_t count) {
  auto known = kBinaryTruth.find(function.name);
  Binary truth = known == kBinaryTruth.end() ? function.f64 : known->second;
  return in_parallel([&](unsigned part, unsigned parts) {
    Worst worst;
    for (std::uint64_t i = part; i < count; i += parts) {
      std::uint64_t random = mix((i + 1) * 0x9e3779b97f4a7c15u);
      auto first = static_cast<std::uint32_t>(random), second = static_cast<std::uint32_t>(random >> 32);
      if (i & 1) {
        first = (first & 0x87ffffffu) + 0x3c000000u;
        second = (second & 0x87ffffffu) + 0x3f000000u;
      }
      float x = std::bit_cast<float>(first), y = std::bit_cast<float>(second);
      if (function.name == "polygamma") x = static_cast<float>(first % 30);
      compare(worst, x, y, function.f32(x, y), truth(x, y));
    }
    return worst;
  });
}

/// Of f64: any bits, magnitudes where functions live, neighbours of 1, numbers up to 12.
double draw(std::mt19937_64& random, int i) {
  auto uniform = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
  auto power = [&](double low, double high) { return std::copysign(std::exp2(uniform(low, high)), random() & 1 ? 1 : -1); };
  switch (i % 5) {
    case 0: return std::bit_cast<double>(random());
    case 1: return power(-30, 11);
    case 2: return power(-3, 5);
    case 3: return 1 + power(-53, -1);
    default: return uniform(-12, 12);
  }
}

/// Left of zero lgamma and digamma have zeros between their poles; what is measured there is relative to their terms.
double least(std::string_view name, double x) {
  bool gamma = name == "lgamma" || name == "digamma";
  return gamma && x < 0 ? std::max(1.0, std::log(std::fabs(x))) : 0;
}

void note(Worst& worst, double error, double x, double y) {
  worst.wrong += std::isinf(error);
  if (error > worst.ulp) worst.ulp = error, worst.x = x, worst.y = y;
}

Worst sampled(const math::UnaryFunction& function, int samples) {
  std::mt19937_64 random(7);
  testing::Number in, truth;
  Worst worst;
  for (int i = 0; i < samples; ++i) {
    double x = draw(random, i);
    mpfr_set_d(in.value, x, MPFR_RNDN);
    testing::unary_truth(function.name)(truth.value, in.value, MPFR_RNDN);
    note(worst, testing::ulps(function.f64(x), truth, least(function.name, x)), x, 0);
  }
  return worst;
}

Worst sampled(const math::BinaryFunction& function, int samples) {
  std::mt19937_64 random(7);
  testing::Number in_x, in_y, truth;
  Worst worst;
  for (int i = 0; i < samples; ++i) {
    double x = draw(random, i), y = draw(random, static_cast<int>(random() % 5));
    if (function.name == "polygamma" || function.name == "zeta") {
      x = std::fabs(draw(random, 1 + i % 4)), y = std::fabs(draw(random, 1 + i % 3));
      if (function.name == "polygamma") x = std::min(std::floor(x), 170.0);
    }
    mpfr_set_d(in_x.value, x, MPFR_RNDN);
    mpfr_set_d(in_y.value, y, MPFR_RNDN);
    testing::binary_truth(function.name)(truth.value, in_x.value, in_y.value, MPFR_RNDN);
    note(worst, testing::ulps(function.f64(x, y), truth), x, y);
  }
  return worst;
}

/// Prints a cell; whether the function keeps its bound.
bool report(const char* type, std::string_view name, const Worst& worst, double bound, const std::string& how) {
  bool kept = worst.ulp <= bound && worst.wrong == 0;
  std::printf("| `%s` | %s | %.4f | %.9g, %.9g | %s |%s", std::string(name).c_str(), type, worst.ulp, worst.x, worst.y, how.c_str(),
              kept ? "\n" : "  BROKEN\n");
  if (worst.wrong) std::printf("wrong kind: %llu\n", static_cast<unsigned long long>(worst.wrong));
  std::fflush(stdout);
  return kept;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"errors of the elementary functions"};
  bool exhaustive = false, no_f64 = false;
  std::uint64_t stride = 4099;
  int samples = 20000;
  std::vector<std::string> only;
  app.add_flag("--exhaustive", exhaustive, "all floats");
  app.add_flag("--no-f64", no_f64, "f32 alone");
  app.add_option("--stride", stride, "every stride-th float");
  app.add_option("--samples", samples, "how many f64 inputs");
  app.add_option("--threads", threads, "how many threads (0: all)");
  app.add_option("--only", only, "these functions");
  CLI11_PARSE(app, argc, argv);
  if (exhaustive) stride = 1;
  auto wanted = [&](std::string_view name) { return only.empty() || std::find(only.begin(), only.end(), name) != only.end(); };
  std::uint64_t count = exhaustive ? 1'000'000'000 : 4'000'000'000 / stride;
  std::string how = exhaustive ? "all" : "every " + std::to_string(stride) + "th";
  bool kept = true;
  std::printf("| function | type | ulp | at | inputs |\n|---|---|---|---|---|\n");
  for (const auto& function : math::unary_functions()) {
    if (!wanted(function.name)) continue;
    kept &= report("f32", function.name, sweep(function, stride), function.name == "erf" ? 2 : 1, how);
    if (!no_f64) kept &= report("f64", function.name, sampled(function, samples), 3, std::to_string(samples));
  }
  for (const auto& function : math::binary_functions()) {
    if (!wanted(function.name)) continue;
    kept &= report("f32", function.name, pairs(function, count), 1, std::to_string(count));
    if (!no_f64) kept &= report("f64", function.name, sampled(function, samples / 4), 3, std::to_string(samples / 4));
  }
  return kept ? 0 : 1;
}
