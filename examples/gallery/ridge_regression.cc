// Ridge regression: least squares that also keeps the weights small. The answer is one linear
// system; how small is decided by the data, since the error of leaving one observation out is a
// formula too, and its derivative by the penalty goes through the solution of the system. Source:
// Hoerl and Kennard, Ridge Regression (1970); Allen's PRESS statistic (1974) for leave-one-out.
#include <strata/core.h>

#include "require.h"

using namespace strata;
namespace linalg = numpy::linalg;

// (X'X + penalty I)^-1 X'
Array smoother(const Array& x, const Array& penalty) {
  return linalg::solve(dot(x.T(), x) + penalty * eye(x.shape(1), {}, 0, x.dtype()), x.T());
}

Array ridge(const Array& x, const Array& y, const Array& penalty) {
  return dot(smoother(x, penalty), y);
}

// The mean squared error of each observation by the fit to all others, from one fit to all.
Array left_out_error(const Array& x, const Array& y, const Array& penalty) {
  Array s = smoother(x, penalty), leverage = sum(x * s.T(), 1);
  return mean(square((y - dot(x, dot(s, y))) / (1 - leverage)));
}

// Sines and cosines of up to fifteen half waves: 31 features, of which forty noisy observations
// cannot tell much.
Array features(const Array& t) {
  Array phase = pi * t[{slice(), newaxis}] * arange(1, 16);
  return concatenate({ones({t.size(), 1}, t.dtype()), sin(phase), cos(phase)}, 1);
}

int main() {
  EnableX64 wide;
  auto curve = [](const Array& t) { return exp(-2 * t) * sin(6 * t) + 0.5 * t; };
  auto [place, noise] = random::split2(random::key(0));
  Array t = random::uniform(place, {40}, float64), x = features(t),
        y = curve(t) + 0.15 * random::normal(noise, {40}, float64);

  // Newton's method on the logarithm of the penalty.
  auto error = [&](Array log_penalty) { return left_out_error(x, y, exp(log_penalty)); };
  auto descend = jit([&](Array log_penalty) {
    auto [value, slope] = value_and_grad(error)(log_penalty);
    return std::pair(value,
                     log_penalty - clip(slope / abs(grad(grad(error))(log_penalty)), -1., 1.));
  });
  Array log_penalty = std::log(1e-3), value;
  std::printf("penalty   left-out error\n");
  for (int i = 0; i < 12; ++i) {
    Array before = log_penalty;
    std::tie(value, log_penalty) = descend(before);
    if (i % 3 == 0) std::printf("%7.4f   %.5f\n", exp(before).item<double>(), value.item<double>());
  }
  Array penalty = exp(log_penalty), weights = ridge(x, y, penalty);
  std::printf("%7.4f   %.5f\n", penalty.item<double>(), error(log_penalty).item<double>());

  Array grid = linspace(0, 1, 101, float64), truth = curve(grid);
  auto off = [&](const Array& w) {
    return sqrt(mean(square(dot(features(grid), w) - truth))).item<double>();
  };
  const double with = off(weights), without = off(ridge(x, y, 1e-9));
  std::printf("from the true curve: %.3f with the penalty, %.3f without\n", with, without);

  // By definition: forty fits, each without one observation.
  double total = 0;
  for (std::int64_t i = 0; i < 40; ++i) {
    Array others = where((arange(40) == i)[{slice(), newaxis}], 0, x);
    total += square(y[i] - dot(x[i], ridge(others, y, penalty))).item<double>() / 40;
  }
  require(std::abs(total / error(log_penalty).item<double>() - 1) < 1e-9,
          "the formula is what forty fits give");
  auto objective = [&](Array w) { return sum(square(dot(x, w) - y)) + penalty * sum(square(w)); };
  require(max(abs(grad(objective)(weights))).item<double>() < 1e-9, "no other weights are better");
  require(std::abs(grad(error)(log_penalty).item<double>()) < 1e-8, "nor another penalty");
  require(with < without / 10, "the penalty pays");
}
