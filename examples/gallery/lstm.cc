// A long short-term memory adds two numbers that it heard long before: of forty numbers two are
// marked, and the answer is their sum. Who forgets the marks can do no better than say 1, which
// errs by 1/6 in the mean square. Source: Hochreiter and Schmidhuber, Long Short-Term Memory
// (1997), the cell and the task; Gers, Schmidhuber and Cummins (2000), the forget gate.
#include <strata/core.h>

#include "require.h"
#include "strata/nn/linear/linear.h"
#include "strata/optim/optim.h"

using namespace strata;

constexpr std::int64_t kLength = 40, kState = 32, kBatch = 64;

struct Network {
  nn::Linear gates, answer;
  STRATA_FIELDS(gates, answer)
};

struct Memory {
  Array cell, hidden;  // (batch, kState)
  STRATA_FIELDS(cell, hidden)
};

Network make_network(const random::Key& key) {
  auto [first, second] = random::split2(key);
  Network net{nn::Linear::init(first, 2 + kState, 4 * kState), nn::Linear::init(second, kState, 1)};
  // Gates that are open in the beginning, so that nothing is forgotten before it is learned.
  net.gates.bias = net.gates.bias->at({slice(kState, 2 * kState)}).set(1.0f);
  return net;
}

Memory after(const Network& net, const Memory& m, const Array& heard) {
  std::vector<Array> gate = split(net.gates(concatenate({heard, m.hidden}, -1)), 4, -1);
  Array cell = nn::sigmoid(gate[1]) * m.cell + nn::sigmoid(gate[0]) * tanh(gate[2]);
  return {cell, nn::sigmoid(gate[3]) * tanh(cell)};
}

// The answers (batch) to what is heard (length, batch, 2).
Array answers(const Network& net, const Array& heard) {
  Array blank = zeros({heard.shape(1), kState});
  auto step = [&](const Memory& m, const Array& x) { return std::pair(after(net, m, x), nullptr); };
  return net.answer(scan(step, Memory{blank, blank}, heard).first.hidden)[{slice(), 0}];
}

struct Task {
  Array heard, sum;  // (length, batch, 2): numbers, and where they are marked; (batch)
  STRATA_FIELDS(heard, sum)
};

// One mark in each half.
Task make_task(const random::Key& key) {
  random::Key keys = random::split(key, 3);
  Array numbers = random::uniform(keys[0], {kLength, kBatch});
  Array marks = nn::one_hot(random::randint(keys[1], {kBatch}, 0, kLength / 2), kLength) +
                nn::one_hot(random::randint(keys[2], {kBatch}, kLength / 2, kLength), kLength);
  return {stack({numbers, marks.T()}, -1), sum(numbers * marks.T(), 0)};
}

Array loss(const Network& net, const Task& task) {
  return mean(square(answers(net, task.heard) - task.sum));
}

int main() {
  constexpr std::int64_t kSteps = 900;
  Network net = make_network(random::key(0));
  auto optimizer = optim::chain(optim::clip_by_global_norm(1.0),
                                optim::adam(optim::cosine_decay_schedule(1e-2, kSteps)));
  auto memory = optimizer.init(net);
  // All of the training as one program.
  auto train = jit([&](const Network& begin, const decltype(memory)& state) {
    auto step = [&](const auto& at, const Array& i) {
      auto [value, slope] =
          value_and_grad(loss)(at.first, make_task(random::fold_in(random::key(1), i)));
      auto [updates, next] = optimizer.update(slope, at.second, at.first);
      return std::pair(std::pair(optim::apply_updates(at.first, updates), next), value);
    };
    return scan(step, std::pair(begin, state), arange(kSteps));
  });
  auto [last, losses] = train(net, memory);
  for (std::int64_t i = 0; i < kSteps; i += kSteps / 6)
    std::printf("steps %4lld to %4lld  mean square error %.3f\n", static_cast<long long>(i),
                static_cast<long long>(i + kSteps / 6),
                mean(losses[slice(i, i + kSteps / 6)]).item<double>());

  const double error = jit(loss)(last.first, make_task(random::key(2))).item<double>();
  std::printf("on sums not heard before: %s\n", error < 0.01 ? "below 0.01" : "too much");
  require(error < 0.01, "it remembers both numbers");
}
