// Hamiltonian Monte Carlo: samples of a density that is known up to a factor. The gradient of its
// logarithm drives a particle along a path; where the path ends is the next sample, unless the
// error of integration says no. One chain is written; vmap makes 256. Source: Neal, MCMC Using
// Hamiltonian Dynamics (2011). The density is Haario's banana: x ~ N(0, 1), y | x ~ N(x^2, 1/4),
// whose moments are known.
#include <strata/core.h>

#include "require.h"

using namespace strata;

Array log_density(const Array& q) { return -square(q[0]) / 2 - 2 * square(q[1] - square(q[0])); }

struct Particle {
  Array q, p;  // position, momentum
  STRATA_FIELDS(q, p)
};

// Leapfrog: time-reversible, and volumes are kept.
Particle path(const Particle& start, double step, std::int64_t steps) {
  auto force = grad(log_density);
  auto leap = [&](Array, const Particle& at) {
    Array half = at.p + step / 2 * force(at.q), q = at.q + step * half;
    return Particle{q, half + step / 2 * force(q)};
  };
  return fori_loop(0, steps, leap, start);
}

struct Move {
  Array q, accepted;
  STRATA_FIELDS(q, accepted)
};

Move move(const Array& key, const Array& q) {
  auto [push, chance] = random::split2(key);
  Particle from{q, random::normal(push, q.shape())}, to = path(from, 0.1, 20);
  auto energy = [](const Particle& at) { return sum(square(at.p)) / 2 - log_density(at.q); };
  Array accepted = log(random::uniform(chance)) < energy(from) - energy(to);
  return {where(accepted, to.q, from.q), accepted};
}

// (samples, 2) of one chain, the first `burn_in` left out, and the part of its moves that were
// accepted.
std::pair<Array, Array> chain(const Array& key, std::int64_t burn_in, std::int64_t samples) {
  auto step = [](Array q, Array key) {
    Move next = move(key, q);
    return std::pair(next.q, next);
  };
  Move all = scan(step, zeros({2}), random::split(key, burn_in + samples)).second;
  return {all.q[slice(burn_in, none)], mean(all.accepted.astype(float32))};
}

int main() {
  constexpr std::int64_t kChains = 256, kSamples = 1000;
  auto chains = jit(vmap([](Array key) { return chain(key, 100, kSamples); }));
  auto [samples, accepted] =
      chains(random::split(random::key(0), kChains));  // (chains, samples, 2)
  std::printf("%lld samples, %.1f %% of the moves accepted\n",
              static_cast<long long>(kChains * kSamples), 100 * mean(accepted).item<double>());

  // Each moment with the error that the differences between chains tell of.
  Array x = samples[{ellipsis, 0}], y = samples[{ellipsis, 1}];
  auto moment = [](const char* name, const Array& values, double truth) {
    Array of_chains = mean(values, 1);
    const double estimate = mean(of_chains).item<double>(),
                 error = std_(of_chains).item<double>() / std::sqrt(static_cast<double>(kChains));
    std::printf("%-6s %7.3f +- %.3f, truly %.2f\n", name, estimate, error, truth);
    require(std::abs(estimate - truth) < 4 * error && error < 0.06,
            "the moments are those of the density");
  };
  moment("E x", x, 0);
  moment("E x^2", square(x), 1);
  moment("E y", y, 1);
  moment("var y", square(y - 1), 2.25);
  moment("cov", x * y, 0);

  // Where the samples are.
  const std::vector<double> at_x = x[{slice(0, 40)}].to_vector<double>(),
                            at_y = y[{slice(0, 40)}].to_vector<double>();
  constexpr std::size_t kWidth = 49, kHeight = 18;
  std::vector<std::vector<int>> count(kHeight, std::vector<int>(kWidth));
  for (std::size_t i = 0; i < at_x.size(); ++i) {
    const double column = (at_x[i] + 3) / 6 * kWidth, row = (8 - at_y[i]) / 10 * kHeight;
    if (column >= 0 && column < kWidth && row >= 0 && row < kHeight)
      ++count[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
  }
  for (const auto& row : count) {
    std::string line;
    for (int n : row) line += " .:-=+*#%@"[std::min(9, (n + 7) / 8)];
    std::printf("%s\n", line.substr(0, line.find_last_not_of(' ') + 1).c_str());
  }
}
