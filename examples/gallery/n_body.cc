// Bodies under gravity: forces are minus the gradient of the potential, positions and velocities
// advance by a symmetric composition of leapfrog steps, all as one scan. Three equal bodies chase
// each other along a figure of eight and are back where they began after one period; a cluster of
// 128 keeps its energy and momentum. Source: Chenciner and Montgomery, A remarkable periodic
// solution of the three-body problem (2000), the orbit, in Simo's digits; Yoshida, Construction of
// higher order symplectic integrators (1990), the steps.
#include <strata/core.h>

#include <array>

#include "require.h"

using namespace strata;

struct Bodies {
  Array place, velocity;  // (n, d)
  STRATA_FIELDS(place, velocity)
};

// G = 1; `soft` keeps the force finite where bodies meet.
Array potential(const Array& place, const Array& mass, double soft) {
  Array apart = expand_dims(place, 1) - expand_dims(place, 0);
  Array distance = sqrt(sum(square(apart), -1) + soft * soft + eye(mass.size(), {}, 0, float64));
  return -sum(triu(outer(mass, mass) / distance, 1));
}

Array energy(const Bodies& b, const Array& mass, double soft) {
  return sum(mass * sum(square(b.velocity), 1)) / 2 + potential(b.place, mass, soft);
}

// One step: three leapfrog steps, the middle one backwards in time, of fourth order together.
Bodies advance(Bodies b, const Array& mass, double soft, double h) {
  const double root = std::cbrt(2.0), outside = 1 / (2 - root), inside = -root / (2 - root);
  auto kick = [&](double by) {
    Array force = -grad([&](const Array& x) { return potential(x, mass, soft); })(b.place);
    b.velocity += by * h * force / expand_dims(mass, 1);
  };
  for (double part : std::array{outside, inside, outside}) {
    kick(part / 2);
    b.place += part * h * b.velocity;
    kick(part / 2);
  }
  return b;
}

// The state after all steps, and the energy after each.
std::pair<Bodies, Array> run(const Bodies& start, const Array& mass, double soft, double h,
                             std::int64_t steps) {
  auto step = [&](const Bodies& b, std::nullptr_t) {
    Bodies next = advance(b, mass, soft, h);
    return std::pair(next, energy(next, mass, soft));
  };
  return jit([&](const Bodies& b) { return scan(step, b, nullptr, {.length = steps}); })(start);
}

int main() {
  EnableX64 wide;
  const double period = 6.32591398;
  Array corner = array({{0.97000436, -0.24308753}}), middle = array({{-0.93240737, -0.86473146}});
  const Bodies eight{concatenate({corner, -corner, zeros({1, 2}, float64)}),
                     concatenate({-middle / 2, -middle / 2, middle})};
  auto [back, energies] = run(eight, ones({3}, float64), 0.0, period / 2000, 2000);
  const double missed = max(abs(back.place - eight.place)).item<double>();
  std::printf("figure of eight: energy %.6f, after a period %.0e from the start\n",
              energies[0].item<double>(), missed);
  require(missed < 1e-6, "three bodies are back where they began");
  require(numpy::ptp(energies).item<double>() < 1e-9, "their energy stays");

  random::Key keys = random::split(random::key(0), 3);
  Array mass = random::uniform(keys[0], {128}, float64) + 0.5;
  const Bodies cluster{random::normal(keys[1], {128, 3}, float64),
                       2 * random::normal(keys[2], {128, 3}, float64)};
  auto [later, along] = run(cluster, mass, 0.3, 0.002, 200);
  auto momentum = [&](const Bodies& b) { return dot(mass, b.velocity); };
  const double before = energy(cluster, mass, 0.3).item<double>(),
               drift = max(abs(along / before - 1)).item<double>(),
               push = max(abs(momentum(later) - momentum(cluster))).item<double>();
  std::printf("128 bodies: energy %.3f, %s\n", before,
              drift < 1e-5 && push < 1e-10 ? "kept, and the momentum with it" : "lost");
  require(drift < 1e-5, "the cluster's energy stays");
  require(push < 1e-10, "the cluster's momentum stays");
}
