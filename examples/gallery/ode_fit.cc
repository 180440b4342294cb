// Hares and lynxes: four rates of a differential equation are found from noisy counts. The equation
// is integrated by Runge and Kutta's method; its derivative is not that of the steps, which would
// remember each of them, but the adjoint equation, integrated back in time beside the state.
// Source: Lotka (1925), Volterra (1926); Pontryagin's adjoint as in Chen et al., Neural Ordinary
// Differential Equations (2018), algorithm 1.
#include <strata/core.h>

#include "require.h"
#include "strata/optim/optim.h"

using namespace strata;

// Logarithms of rates, so that they stay positive: hares are born and eaten, lynxes grow by hares
// and die.
struct Rates {
  Array birth, hunt, growth, death;
  STRATA_FIELDS(birth, hunt, growth, death)
};

// d/dt of (hares, lynxes)
Array flow(const Rates& r, const Array& y) {
  Array meetings = y[0] * y[1];
  return stack({exp(r.birth) * y[0] - exp(r.hunt) * meetings,
                exp(r.growth) * meetings - exp(r.death) * y[1]});
}

template <class State>
State advance(const State& at, double h, const State& slope) {
  return tree::map([&](const Array& a, const Array& s) { return a + h * s; }, at, slope);
}

// `steps` steps of size h along `f`, for any tree as state.
template <class F, class State>
State integrate(F f, const State& start, double h, std::int64_t steps) {
  auto step = [&](Array, const State& y) {
    State a = f(y), b = f(advance(y, h / 2, a)), c = f(advance(y, h / 2, b)),
          d = f(advance(y, h, c));
    return advance(advance(advance(advance(y, h / 6, a), h / 3, b), h / 3, c), h / 6, d);
  };
  return fori_loop(0, steps, step, start);
}

constexpr double kStep = 0.01, kBetween = 0.5;  // years, between steps and between counts
constexpr auto kSteps = static_cast<std::int64_t>(kBetween / kStep + 0.5);

Array half_a_year(const Rates& r, const Array& y) {
  return integrate([&](const Array& at) { return flow(r, at); }, y, kStep, kSteps);
}

// The state, the adjoint a = dL/dy, and dL/d(rates), which a collects on its way back.
struct Backward {
  Array y, a;
  Rates rates;
  STRATA_FIELDS(y, a, rates)
};

auto adjoint_half_a_year() {
  auto forward = [](const Rates& r, const Array& y) {
    Array end = half_a_year(r, y);
    return std::pair(end, std::pair(r, end));  // all that is remembered
  };
  auto backward = [](const std::pair<Rates, Array>& kept, const Array& slope) {
    const auto& [r, end] = kept;
    auto against = [&](const Backward& at) {
      auto [speed, pull] = vjp(flow, r, at.y);
      auto [by_rates, by_state] = pull(at.a);
      return Backward{-speed, by_state, by_rates};
    };
    Backward start = integrate(
        against, Backward{end, slope, tree::map([](const Array& a) { return zeros_like(a); }, r)},
        kStep, kSteps);
    return std::tuple(start.rates, start.a);
  };
  return custom_vjp(half_a_year, forward, backward);
}

// Logarithms of counts every half a year, (counts, 2).
template <class Solve>
Array logs_of_counts(Solve solve, const Rates& r, const Array& start, std::int64_t counts) {
  auto next = [&](Array y, std::nullptr_t) {
    Array end = solve(r, y);
    return std::pair(end, log(end));
  };
  return scan(next, start, nullptr, {.length = counts}).second;
}

int main() {
  const Rates truth{std::log(0.8), std::log(0.4), std::log(0.3), std::log(0.6)};
  const Array start = array({2.0, 1.0});
  constexpr std::int64_t kCounts = 40;
  Array seen = logs_of_counts(half_a_year, truth, start, kCounts) +
               0.05 * random::normal(random::key(0), {kCounts, 2});

  auto loss_by = [&](auto solve) {
    return [=](const Rates& r) {
      return mean(square(logs_of_counts(solve, r, start, kCounts) - seen));
    };
  };
  auto loss = loss_by(adjoint_half_a_year());

  Rates guess{std::log(0.6), std::log(0.5), std::log(0.4), std::log(0.5)};
  auto norm = [](const Rates& r) { return optim::global_norm(r).item<double>(); };
  Rates adjoint = jit(grad(loss))(guess), through_steps = jit(grad(loss_by(half_a_year)))(guess);
  Rates apart =
      tree::map([](const Array& a, const Array& b) { return a - b; }, adjoint, through_steps);
  std::printf("the adjoint's gradient is %s that through each step\n",
              norm(apart) < 1e-3 * norm(through_steps) ? "within a thousandth of" : "not");
  require(norm(apart) < 1e-3 * norm(through_steps), "two ways to one derivative");

  auto optimizer = optim::adam(optim::cosine_decay_schedule(0.03, 400));
  auto memory = optimizer.init(guess);
  auto step = jit([&](const Rates& r, const decltype(memory)& memory) {
    auto [value, slope] = value_and_grad(loss)(r);
    auto [updates, next] = optimizer.update(slope, memory, r);
    return std::tuple(value, optim::apply_updates(r, updates), next);
  });
  Array value;
  for (int i = 0; i <= 400; ++i) {
    std::tie(value, guess, memory) = step(guess, memory);
    if (i % 100 == 0)
      std::printf("step %3d  mean square error of logarithms %.4f\n", i, value.item<double>());
  }

  auto compare = [](const char* name, const Array& found, const Array& true_) {
    const double f = exp(found).item<double>(), t = exp(true_).item<double>();
    std::printf("%-6s %.3f (truly %.1f)\n", name, f, t);
    require(std::abs(f / t - 1) < 0.05, "rates are found within 5 %");
  };
  compare("birth", guess.birth, truth.birth);
  compare("hunt", guess.hunt, truth.hunt);
  compare("growth", guess.growth, truth.growth);
  compare("death", guess.death, truth.death);
}
