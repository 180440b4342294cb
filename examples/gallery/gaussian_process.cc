// Gaussian process regression: a distribution over functions, given a few noisy values. How smooth
// they are, how large and how noisy is found by gradient ascent on the likelihood of the data,
// through a Cholesky factorisation; then the posterior is drawn, with its uncertainty. Source:
// Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), algorithm 2.1 and
// equation 5.9.
#include <strata/core.h>

#include <string>

#include "require.h"
#include "strata/optim/optim.h"

using namespace strata;
namespace linalg = numpy::linalg;

// Logarithms, so that all stay positive.
struct Kernel {
  Array length, amplitude, noise;
  STRATA_FIELDS(length, amplitude, noise)
};

Array covariance(const Kernel& k, const Array& a, const Array& b) {
  Array apart = (a[{slice(), newaxis}] - b) / exp(k.length);
  return exp(2 * k.amplitude - square(apart) / 2);
}
Array covariance_of_data(const Kernel& k, const Array& x) {
  return covariance(k, x, x) + exp(2 * k.noise) * eye(x.size(), {}, 0, x.dtype());
}

Array solve_lower(const Array& l, const Array& b) {
  return lax::linalg::triangular_solve(l, b, {.left_side = true, .lower = true});
}

Array log_likelihood(const Kernel& k, const Array& x, const Array& y) {
  Array l = linalg::cholesky(covariance_of_data(k, x)), white = solve_lower(l, y);
  return -sum(square(white)) / 2 - sum(log(diagonal(l))) - y.size() * std::log(2 * pi) / 2;
}

struct Posterior {
  Array mean, deviation;
  STRATA_FIELDS(mean, deviation)
};

Posterior predict(const Kernel& k, const Array& x, const Array& y, const Array& at) {
  Array l = linalg::cholesky(covariance_of_data(k, x)),
        white = solve_lower(l, covariance(k, x, at));
  return {dot(white.T(), solve_lower(l, y)), sqrt(exp(2 * k.amplitude) - sum(square(white), 0))};
}

// '+' data, '*' the mean, '.' two deviations about it.
void draw(const Posterior& p, const Array& at, const Array& x, const Array& y) {
  constexpr int kHeight = 17;
  const auto columns = static_cast<std::size_t>(at.size());
  std::vector<std::string> picture(kHeight, std::string(columns, ' '));
  auto put = [&](double column, double value, char c) {
    const auto row = static_cast<int>((2.2 - value) / 4.4 * kHeight);
    if (row >= 0 && row < kHeight)
      picture[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = c;
  };
  const std::vector<double> mean = p.mean.to_vector<double>(),
                            deviation = p.deviation.to_vector<double>();
  for (std::size_t i = 0; i < columns; ++i) {
    for (double s = -2; s <= 2; s += 0.05)
      put(static_cast<double>(i), mean[i] + s * deviation[i], '.');
    put(static_cast<double>(i), mean[i], '*');
  }
  const std::vector<double> places = x.to_vector<double>(), values = y.to_vector<double>();
  for (std::size_t i = 0; i < places.size(); ++i)
    put((places[i] + 5) / 10 * static_cast<double>(columns - 1), values[i], '+');
  for (const std::string& line : picture)
    std::printf("%s\n", line.substr(0, line.find_last_not_of(' ') + 1).c_str());
}

int main() {
  EnableX64 wide;
  auto truth = [](const Array& x) { return sin(1.5 * x) * exp(-0.05 * square(x)); };
  Array x = concatenate(
      {linspace(-4.6, 0.4, 14, float64), linspace(2.8, 4.4, 6, float64)});  // with a gap
  Array y = truth(x) + 0.1 * random::normal(random::key(0), x.shape(), float64);

  Kernel kernel{0.0, 0.0, -1.0};
  auto optimizer = optim::adam(optim::constant_schedule(0.05));
  auto memory = optimizer.init(kernel);
  auto step = jit([&](const Kernel& k, const decltype(memory)& memory) {
    auto [value, slope] =
        value_and_grad([&](const Kernel& k) { return -log_likelihood(k, x, y); })(k);
    auto [updates, next] = optimizer.update(slope, memory, k);
    return std::tuple(-value, optim::apply_updates(k, updates), next);
  });
  Array value;
  for (int i = 0; i <= 200; ++i) {
    std::tie(value, kernel, memory) = step(kernel, memory);
    if (i % 100 == 0) std::printf("step %3d  log-likelihood %.3f\n", i, value.item<double>());
  }
  std::printf("length %.2f, amplitude %.2f, noise %.2f\n", exp(kernel.length).item<double>(),
              exp(kernel.amplitude).item<double>(), exp(kernel.noise).item<double>());

  Array at = linspace(-5, 5, 72, float64);
  Posterior p = jit(predict)(kernel, x, y, at);
  draw(p, at, x, y);

  // The textbook's closed form, by inverse and determinant.
  Array k = covariance_of_data(kernel, x), inverse = linalg::inv(k),
        across = covariance(kernel, x, at);
  Array mean = dot(across.T(), dot(inverse, y)),
        variance = exp(2 * kernel.amplitude) - sum(across * dot(inverse, across), 0);
  require(max(abs(p.mean - mean)).item<double>() < 1e-9 &&
              max(abs(square(p.deviation) - variance)).item<double>() < 1e-9,
          "the posterior of the closed form");
  Array direct = -dot(y, dot(inverse, y)) / 2 - linalg::slogdet(k).logabsdet / 2 -
                 y.size() * std::log(2 * pi) / 2;
  require(abs(direct - log_likelihood(kernel, x, y)).item<double>() < 1e-9,
          "the likelihood of the closed form");
  const double inside =
      strata::mean((abs(p.mean - truth(at)) < 2 * p.deviation).astype(float64)).item<double>();
  std::printf("the truth is within two deviations at %.0f %% of the places\n", 100 * inside);
  require(inside > 0.9, "the uncertainty can be believed");
}
