// A hidden Markov model, "the occasionally dishonest casino": a die that is now and then exchanged
// for a loaded one; only throws are seen. The forward recursion is a scan, and both other
// algorithms of the subject are its derivatives: the posterior of the states (forward-backward) is
// the gradient of the log-likelihood by the table of log-emissions, and the parameters are fitted
// by gradient ascent. Source: Durbin, Eddy, Krogh and Mitchison, Biological Sequence Analysis
// (1998), ch. 3; Eisner (2016) on backward as a derivative.
#include <strata/core.h>

#include "require.h"
#include "strata/optim/optim.h"

using namespace strata;

// Logits of rows: a softmax makes probabilities of them.
struct Model {
  Array start, change, throw_;  // (2), (2, 2), (2, 6)
  STRATA_FIELDS(start, change, throw_)
};

// log p(throws), where log_emission[t, s] is log p(throw t | state s).
Array log_likelihood(const Model& m, const Array& log_emission) {
  Array log_change = nn::log_softmax(m.change);
  auto step = [&](Array before, Array emission) {
    return std::pair(logsumexp(before[{slice(), newaxis}] + log_change, 0) + emission, nullptr);
  };
  Array first = nn::log_softmax(m.start) + log_emission[0];
  return logsumexp(scan(step, first, log_emission[slice(1, none)]).first);
}

Array emissions(const Model& m, const Array& throws) {
  return nn::log_softmax(m.throw_).T()[throws];
}
Array log_likelihood_of(const Model& m, const Array& throws) {
  return log_likelihood(m, emissions(m, throws));
}
// p(state | all throws), (T, 2)
Array posterior(const Model& m, const Array& throws) {
  return grad<1>(log_likelihood)(m, emissions(m, throws));
}

// States and throws.
std::pair<Array, Array> play(const Model& m, const Array& key, std::int64_t length) {
  auto step = [&](Array state, Array key) {
    auto [next, face] = random::split2(key);
    Array seen = random::categorical(face, m.throw_[state]);
    return std::pair(random::categorical(next, m.change[state]), std::pair(state, seen));
  };
  return scan(step, Array(0), random::split(key, length)).second;
}

// The definition: the sum over every course of the states.
double by_enumeration(const Model& m, const std::vector<int>& throws) {
  const std::vector<double> start = nn::softmax(m.start).to_vector<double>(),
                            change = nn::softmax(m.change).to_vector<double>(),
                            face = nn::softmax(m.throw_).to_vector<double>();
  double total = 0;
  for (unsigned course = 0; course < 1u << throws.size(); ++course) {
    double p = 1;
    for (std::size_t t = 0; t < throws.size(); ++t) {
      const unsigned s = course >> t & 1;
      p *= (t == 0 ? start[s] : change[2 * (course >> (t - 1) & 1) + s]) *
           face[6 * s + static_cast<unsigned>(throws[t])];
    }
    total += p;
  }
  return std::log(total);
}

int main() {
  Model truth{log(array({0.999, 0.001})), log(array({{0.95, 0.05}, {0.10, 0.90}})),
              log(array({{1., 1., 1., 1., 1., 1.}, {1., 1., 1., 1., 1., 5.}}))};
  auto [states, throws] = play(truth, random::key(3), 3000);

  const std::vector<int> few = throws[slice(10)].to_vector<int>();
  const double recursion = log_likelihood_of(truth, throws[slice(10)]).item<double>(),
               enumerated = by_enumeration(truth, few);
  std::printf("ten throws: log p = %.4f by recursion, %.4f by all 1024 courses\n", recursion,
              enumerated);
  require(std::abs(recursion - enumerated) < 1e-4, "the recursion is the sum");

  Model m{zeros({2}), array({{1., -1.}, {-1., 1.}}),
          zeros({2, 6}).at({1, 5}).set(0.5)};  // states differ a little, or they would stay alike
  auto optimizer = optim::adam(optim::constant_schedule(0.05));
  auto memory = optimizer.init(m);
  auto step = jit([&](const Model& m, const decltype(memory)& memory) {
    auto loss = [&](const Model& m) { return -log_likelihood_of(m, throws) / throws.shape(0); };
    auto [value, slope] = value_and_grad(loss)(m);
    auto [updates, next] = optimizer.update(slope, memory, m);
    return std::tuple(value, optim::apply_updates(m, updates), next);
  });
  Array loss;
  for (int i = 0; i <= 300; ++i) {
    std::tie(loss, m, memory) = step(m, memory);
    if (i % 100 == 0) std::printf("step %3d  -log p per throw %.4f\n", i, loss.item<double>());
  }

  Array change = nn::softmax(m.change), face = nn::softmax(m.throw_);
  std::printf(
      "stays fair %.3f (0.95), stays loaded %.3f (0.90), a six of the loaded die %.3f (0.50)\n",
      change[{0, 0}].item<double>(), change[{1, 1}].item<double>(), face[{1, 5}].item<double>());
  Array known = jit(posterior)(m, throws);
  const double right =
      mean(((known[{slice(), 1}] > 0.5) == (states == 1)).astype(float32)).item<double>();
  std::printf("the die of %.1f %% of the throws is told\n", 100 * right);

  require(max(abs(sum(known, 1) - 1)).item<double>() < 1e-3, "posteriors are probabilities");
  require(
      log_likelihood_of(m, throws).item<double>() > log_likelihood_of(truth, throws).item<double>(),
      "the fit is likelier than the truth, as it must be");
  require(std::abs(face[{1, 5}].item<double>() - 0.5) < 0.06 && right > 0.75,
          "the loaded die is found");
}
