// Derivatives of every function that has goldens, on the goldens' arguments in f64: of first order,
// forward and reverse, and of second order by each pair of the two, beside finite differences.
#include <cmath>
#include <random>
#include <set>

#include "strata/api/golden_laws.h"

namespace strata::testing {
namespace {

using nlohmann::json;
using Arrays = std::vector<Array>;

constexpr std::size_t kCalls = 2;  // of each function
constexpr double kStep = 1e-3;     // of finite differences

/// Functions that have no derivative by their first argument, upstream neither: its order.
const std::set<std::string> kOrderFirst = {"lax.polygamma", "lax.zeta", "scipy.special.polygamma",
                                           "scipy.special.zeta", "scipy.special.expn"};
/// Functions with a square root at 0 where there is one element: NaN, as upstream.
const std::set<std::string> kNotOfOne = {"numpy.std", "numpy.nanstd"};

/// Updates that multiply: where indices may repeat there is no derivative by the values, upstream
/// neither.
const std::set<std::string> kNotAtArrays = {"at.multiply", "at.divide", "at.power",
                                            "lax.scatter_mul"};
/// Functions that have none: by what they are for, by upstream's word too (the parts of a
/// factorisation, Schur's and Hessenberg's forms, full svd), or because what says how they are
/// called looks at values or rounds to types of its own.
const std::set<std::string> kNone = {"lax.stop_gradient",      "lax.reduce_precision",
                                     "lax.linalg.hessenberg",  "lax.linalg.householder_product",
                                     "lax.linalg.ormqr",       "lax.linalg.schur",
                                     "lax.linalg.tridiagonal", "scipy.linalg.hessenberg",
                                     "scipy.linalg.schur",     "scipy.linalg.solve_sylvester",
                                     "scipy.linalg.svd",       "lax.igamma_grad_a",
                                     "lax.random_gamma_grad",  "random.geometric",
                                     "random.poisson",         "lax.linalg.qdwh",
                                     "numpy.linalg.eig",       "ops.segment_prod",
                                     "lax.DotAlgorithmPreset"};
/// Samples by rejection: their derivative is that of a quantile, not along the sampler's path
/// (random_test.cc compares it).
const std::set<std::string> kQuantiles = {
    "random.beta",  "random.chisquare",          "random.dirichlet", "random.f",
    "random.gamma", "random.generalized_normal", "random.loggamma",  "random.t"};
/// Functions of which only the first derivative is compared: upstream has no second one of the
/// incomplete functions, nor by the parameters of the hypergeometric ones.
const std::set<std::string> kFirst = {"lax.betainc",
                                      "lax.igamma",
                                      "lax.igammac",
                                      "scipy.special.betainc",
                                      "scipy.special.gammainc",
                                      "scipy.special.gammaincc",
                                      "scipy.special.hyp1f1",
                                      "scipy.special.hyp2f1"};

/// Which arguments are varied: those of real floats, but numbers of C++, which say how rather than
/// what.
bool varies(const Array& x) { return is_float(x.dtype()) && !(x.weak() && x.ndim() == 0); }
bool is_smooth_place(const std::string& name, const json& call) {
  bool some = false;
  if (kNotOfOne.contains(name) && decoded(call["a"][0]).size() == 1) return false;
  if (kNone.contains(name) || kQuantiles.contains(name) ||
      (kNotAtArrays.contains(name) && call["a"].size() > 2))
    return false;
  for (const json& a : call["a"]) {
    const Array x = decoded(a);
    if (is_complex(x.dtype())) return false;
    const std::vector<double> values = numbers_of(x);
    for (double v : values)
      if (!std::isfinite(v)) return false;
    if (values.size() > 1 && is_float(x.dtype()) &&
        std::count(values.begin(), values.end(), values[0]) ==
            static_cast<std::int64_t>(values.size()))
      return false;  // a tie
    some |= varies(x) && x.size() > 0;
  }
  return some;
}

/// Samplers are told in which dtype to draw.
json in_f64(const std::string& name, json call) {
  if (name.starts_with("random.") && !call["o"].contains("dtype")) call["o"]["dtype"] = "f64";
  return call;
}

Arrays wide(const Arrays& xs) {
  Arrays out;
  for (const Array& x : xs) out.push_back(x.astype(float64));
  return out;
}
/// Results in f64; others say nothing of derivatives in f64.
Arrays numbers_among(const Arrays& xs) {
  Arrays out;
  for (const Array& x : xs)
    if (x.dtype() == DType::f64) out.push_back(x);
  return out;
}
Arrays normal_like(const Arrays& xs, std::mt19937& random) {
  std::normal_distribution<double> normal;
  Arrays out;
  for (const Array& x : xs) {
    std::vector<double> values(static_cast<std::size_t>(x.size()));
    for (double& v : values) v = normal(random);
    out.push_back(array(values).astype(float64).reshape(x.shape()));
  }
  return out;
}
Array inner(const Arrays& xs, const Arrays& ys) {
  Array out = array(0.0, float64);
  for (std::size_t i = 0; i < xs.size(); ++i) out = out + numpy::sum(xs[i] * ys[i]);
  return out;
}
Arrays moved(const Arrays& xs, const Arrays& by, double far) {
  Arrays out;
  for (std::size_t i = 0; i < xs.size(); ++i) out.push_back(xs[i] + by[i] * far);
  return out;
}
std::vector<double> numbers(const Arrays& xs) {
  std::vector<double> out;
  for (const Array& x : xs)
    for (double v : x.to_vector<double>()) out.push_back(v);
  return out;
}

/// All derivatives of f at xs along ts, weighed by cs.
struct Derivatives {
  Arrays value, gradient;                                             // f; the gradient of <cs, f>
  Arrays forward;                                                     // of f along ts
  Arrays forward_of_reverse, reverse_of_forward, reverse_of_reverse;  // of the gradient along ts
  STRATA_FIELDS(value, gradient, forward, forward_of_reverse, reverse_of_forward,
                reverse_of_reverse)
};

template <class F>
Derivatives derivatives(const F& f, const Arrays& xs, const Arrays& ts, const Arrays& cs,
                        bool with_second) {
  auto weighed = [&](const Arrays& x) { return inner(cs, f(x)); };
  auto gradient = [&](const Arrays& x) { return grad(weighed)(x); };
  auto [value, forward] = jvp(f, std::tuple(xs), std::tuple(ts));
  Derivatives out{value, gradient(xs), forward, {}, {}, {}};
  if (!with_second) return out;
  out.forward_of_reverse = jvp(gradient, std::tuple(xs), std::tuple(ts)).second;
  out.reverse_of_forward =
      grad([&](const Arrays& x) { return jvp(weighed, std::tuple(x), std::tuple(ts)).second; })(xs);
  out.reverse_of_reverse = grad([&](const Arrays& x) { return inner(ts, gradient(x)); })(xs);
  return out;
}

/// What finite differences say of a derivative, where the function is smooth: where the slopes on
/// both sides come nearer to each other with the step.
struct Estimate {
  double value;
  bool is_sure;
};
std::vector<Estimate> estimates(
    const std::vector<std::vector<double>>& at) {  // at -h, -h/2, 0, h/2, h
  std::vector<Estimate> out;
  for (std::size_t i = 0; i < at[0].size(); ++i) {
    const double far = (at[4][i] - at[0][i]) / (2 * kStep), near = (at[3][i] - at[1][i]) / kStep;
    const double far_bend = (at[4][i] - 2 * at[2][i] + at[0][i]) / kStep,
                 near_bend = (at[3][i] - 2 * at[2][i] + at[1][i]) / (kStep / 2);
    const double rounding = 1e-13 * (std::abs(at[0][i]) + std::abs(at[4][i])) / kStep;
    const bool is_sure = std::abs(near - far) <= 1e-3 * std::abs(near) + rounding &&
                         std::abs(near_bend) <= 0.7 * std::abs(far_bend) + rounding;
    out.push_back({near + (near - far) / 3, is_sure});
  }
  return out;
}

/// Compares where the estimate is sure, and counts those places.
std::string difference(const std::vector<double>& got, const std::vector<Estimate>& want,
                       int& compared) {
  double scale = 1e-6;
  for (const Estimate& e : want)
    if (e.is_sure && std::isfinite(e.value)) scale = std::max(scale, std::abs(e.value));
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!want[i].is_sure || !std::isfinite(want[i].value)) continue;
    ++compared;
    if (!(std::abs(got[i] - want[i].value) <= 1e-5 * scale))
      return fmt::format("element {} is {}, not {}", i, got[i], want[i].value);
  }
  return "";
}
std::string difference(const std::vector<double>& got, const std::vector<double>& want) {
  double scale = 1e-6;
  for (double w : want) scale = std::max(scale, std::abs(w));
  for (std::size_t i = 0; i < want.size(); ++i)
    if (std::isfinite(want[i]) && !(std::abs(got[i] - want[i]) <= 1e-8 * scale))
      return fmt::format("element {} is {}, not {}", i, got[i], want[i]);
  return "";
}

struct Verdict {
  std::string wrong;       // which derivative, and how
  int compared = 0;        // elements beside finite differences
  bool has_value = false;  // in f64
};

/// The derivatives of f at xs beside finite differences and beside each other.
template <class F>
Verdict verdict(const F& f, const Arrays& xs, bool with_second = true) {
  std::mt19937 random(7);
  const Arrays ts = normal_like(xs, random), value = f(xs);
  if (value.empty()) return {};
  const Arrays cs = normal_like(value, random);
  auto all = jit([&](const Arrays& x) { return derivatives(f, x, ts, cs, with_second); });
  const Derivatives here = all(xs);
  std::vector<std::vector<double>> values, gradients;
  for (double far : {-kStep, -kStep / 2, 0.0, kStep / 2, kStep}) {
    const Derivatives there = all(moved(xs, ts, far));
    values.push_back(numbers(there.value));
    gradients.push_back(numbers(there.gradient));
  }
  Verdict out{.has_value = true};
  int second = 0;
  auto say = [&](const char* which, const std::string& wrong) {
    if (!wrong.empty()) out.wrong += fmt::format("{}: {}\n", which, wrong);
  };
  say("forward", difference(numbers(here.forward), estimates(values), out.compared));
  say("reverse",
      difference(numbers({inner(here.gradient, ts)}), numbers({inner(cs, here.forward)})));
  if (!with_second) return out;
  say("forward over reverse",
      difference(numbers(here.forward_of_reverse), estimates(gradients), second));
  say("reverse over forward",
      difference(numbers(here.reverse_of_forward), numbers(here.forward_of_reverse)));
  say("reverse over reverse",
      difference(numbers(here.reverse_of_reverse), numbers(here.forward_of_reverse)));
  return out;
}

/// Whether the shape of its result depends on what varies: there is no derivative then.
bool reads_values(const OpenCall& open) {
  const std::string said = message_of(
      [&] { (void)eval_shape([&](const Arrays& xs) { return open(xs); }, wide(open.values())); });
  return said.find("the shape of the result depends on the elements") != std::string::npos;
}

class ApiDerivative : public ::testing::TestWithParam<std::string> {};

TEST_P(ApiDerivative, IsThatOfFiniteDifferences) {
  EnableX64 on;
  const std::string& name = GetParam();
  int compared = 0, calls = 0;
  for (const json& call :
       some_calls(name, kCalls, [&](const json& c) { return is_smooth_place(name, c); })) {
    const OpenCall open(callables().at(name), in_f64(name, call), varies);
    Arrays fixed = wide(open.values()), varied;
    while (fixed.size() > kOrderFirst.count(name))
      varied.insert(varied.begin(), fixed.back()), fixed.pop_back();
    if (reads_values(open)) continue;
    const Verdict v =
        verdict([&](const Arrays& xs) { return numbers_among(open(internal::joined(fixed, xs))); },
                varied, !kFirst.contains(name));
    EXPECT_EQ(v.wrong, "") << written(name, call);
    calls += v.has_value;
    compared += v.compared;
  }
  EXPECT_TRUE(calls == 0 || compared > 0) << "no place of " << name << " was smooth";
}

TEST(ApiDerivatives, AWrongOneIsSeen) {
  EnableX64 on;
  const Arrays xs = {array({0.5, 2.0, -1.0}, float64)};
  // x^2 with a derivative of `slope` x: of first and second order.
  auto square_of_slope = [](double slope) {
    return custom_jvp([](const Arrays& x) { return Arrays{x[0] * x[0]}; },
                      [slope](const std::tuple<Arrays>& x, const std::tuple<Arrays>& t) {
                        const Array& at = std::get<0>(x)[0];
                        return std::pair(Arrays{at * at}, Arrays{slope * at * std::get<0>(t)[0]});
                      });
  };
  EXPECT_EQ(verdict(square_of_slope(2), xs).wrong, "");
  EXPECT_EQ(verdict(square_of_slope(2), xs).compared, 3);
  EXPECT_THAT(verdict(square_of_slope(2.001), xs).wrong,
              ::testing::HasSubstr("forward: element 0"));
  auto kink = [](const Arrays& x) { return Arrays{abs(x[0] - 0.5)}; };
  EXPECT_EQ(verdict(kink, xs).compared, 2) << "a bend is no place to compare";
}

INSTANTIATE_TEST_SUITE_P(All, ApiDerivative, ::testing::ValuesIn(golden_names()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace strata::testing
