// ulp: how far the f32 elementary functions are from the truth, by f64 functions of the C library.
//
//   ulp                      every 4099th float for each function, and random pairs for those of two arguments
//   ulp --exhaustive         all 2^32 floats, and 10^9 pairs
//   ulp --only exp --stride 97
//
// One line per function: the largest error in units of the last place and where, and how many results are wrong in
// kind (NaN, infinity, sign of zero). Exit status 1 if any bound of math.h is broken. Works on all processors.
#include <CLI/CLI.hpp>
#include <bit>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "strata/loop/math/math.h"

namespace {
namespace math = strata::loop::math;

struct Worst {
  double ulp = 0;
  float x = 0, y = 0;
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
  double ulp = static_cast<double>(std::fabs(got - truth) / std::ldexp(1.0, std::max(exponent - 24, -149)));
  if (ulp > worst.ulp && !worst.wrong) worst.x = x, worst.y = y;
  worst.ulp = std::max(worst.ulp, ulp);
}

double logistic_truth(double x) { return 1 / (1 + std::exp(-x)); }
double rsqrt_truth(double x) { return 1 / std::sqrt(x); }

using Unary = double (*)(double);
using Binary = double (*)(double, double);
const std::map<std::string_view, Unary> kUnaryTruth = {
    {"exp", std::exp},   {"exp2", std::exp2},          {"expm1", std::expm1}, {"log", std::log},
    {"log2", std::log2}, {"log1p", std::log1p},        {"sin", std::sin},     {"cos", std::cos},
    {"tan", std::tan},   {"tanh", std::tanh},          {"sqrt", std::sqrt},   {"cbrt", std::cbrt},
    {"erf", std::erf},   {"logistic", logistic_truth}, {"rsqrt", rsqrt_truth}};
const std::map<std::string_view, Binary> kBinaryTruth = {{"pow", std::pow}, {"atan2", std::atan2}};

template <class Work>
Worst in_parallel(const Work& work) {
  unsigned count = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Worst> parts(count);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < count; ++t) threads.emplace_back([&, t] { parts[t] = work(t, count); });
  for (auto& thread : threads) thread.join();
  Worst all;
  for (const Worst& part : parts) all.add(part);
  return all;
}

Worst sweep(const math::UnaryFunction& function, std::uint64_t stride) {
  Unary truth = kUnaryTruth.at(function.name);
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

/// Half of the pairs are any bits; half keep the exponents near 1, where results are ordinary.
Worst pairs(const math::BinaryFunction& function, std::uint64_t count) {
  Binary truth = kBinaryTruth.at(function.name);
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
      compare(worst, x, y, function.f32(x, y), truth(x, y));
    }
    return worst;
  });
}

/// Prints a line; whether the function keeps its bound.
bool report(std::string_view name, const Worst& worst) {
  double bound = name == "erf" ? 2 : 1;
  bool kept = worst.ulp <= bound && worst.wrong == 0;
  std::printf("%-9s %.4f ulp  at %-16a %-16a  wrong kind %llu%s\n", std::string(name).c_str(), worst.ulp, worst.x, worst.y,
              static_cast<unsigned long long>(worst.wrong), kept ? "" : "  BROKEN");
  std::fflush(stdout);
  return kept;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"errors of the f32 elementary functions"};
  bool exhaustive = false;
  std::uint64_t stride = 4099;
  std::vector<std::string> only;
  app.add_flag("--exhaustive", exhaustive, "all floats");
  app.add_option("--stride", stride, "every stride-th float");
  app.add_option("--only", only, "these functions");
  CLI11_PARSE(app, argc, argv);
  if (exhaustive) stride = 1;
  auto wanted = [&](std::string_view name) { return only.empty() || std::find(only.begin(), only.end(), name) != only.end(); };
  bool kept = true;
  for (const auto& function : math::unary_functions())
    if (wanted(function.name)) kept &= report(function.name, sweep(function, stride));
  for (const auto& function : math::binary_functions())
    if (wanted(function.name)) kept &= report(function.name, pairs(function, exhaustive ? 1'000'000'000 : 4'000'000'000 / stride));
  return kept ? 0 : 1;
}
