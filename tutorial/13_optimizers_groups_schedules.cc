// Chapter 13: optimizers, groups and schedules. The page beside this file
// (13_optimizers_groups_schedules.md) explains it.
#include <strata/core.h>

#include <cstdio>
#include <iostream>

#include "strata/checkpoint/optimizer_state.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/transform/grad.h"
#include "strata/nn/transform/jit.h"
#include "strata/optim/optim.h"
#include "strata/optim/schedule/schedule_text.h"

using namespace strata;

struct Net {
  nn::Linear hidden, out;
  STRATA_FIELDS(hidden, out)

  explicit Net(nn::Rngs& rngs) : hidden(4, 16, rngs), out(16, 1, rngs) {}
  Array operator()(const Array& x) { return out(tanh(hidden(x))); }
};

Array loss_of(Net& net, const Array& x, const Array& y) { return mean(square(net(x) - y)); }

// The mean loss of the last of some steps with an optimizer.
double train(const optim::GradientTransformation& rule, int steps) {
  nn::Rngs rngs(0);
  Net net(rngs);
  optim::Optimizer optimizer(net, rule);
  const Array x = random::normal(random::key(1), {64, 4});
  const Array y = sum(sin(x), {.axis = 1, .keepdims = true});
  auto step = nn::jit([](Net& net, optim::Optimizer& optimizer, const Array& x, const Array& y) {
    auto [loss, grads] = nn::value_and_grad(loss_of)(net, x, y);
    optimizer.update(net, grads);
    return loss;
  });
  Array loss;
  for (int i = 0; i < steps; ++i) loss = step(net, optimizer, x, y);
  return loss.item<double>();
}

// A rule of one's own: each leaf moves by the sign of its mean gradient, at a rate that grows while
// the sign stays and falls where it turns.
optim::GradientTransformation leafwise_signs(double start, double up, double down) {
  auto init = [=](const tree::Tree& params) {
    auto rates = params.map([=](const Array&) { return full({}, start); });
    auto signs = params.map([](const Array&) { return zeros({}); });
    return tree::merge({rates.below("rates"), signs.below("signs")});
  };
  auto update = [=](const tree::Tree& grads, const tree::Tree& state, const tree::Tree*) {
    tree::Tree next = state;
    auto moves = grads.map([&](const tree::Entry& leaf, const Array& g) {
      const Array now = sign(mean(g));
      const Array agree = now * state["signs/" + leaf.name];
      const Array rate =
          state["rates/" + leaf.name] * where(agree < 0.0, down, where(agree > 0.0, up, 1.0));
      next.set("rates/" + leaf.name, rate);
      next.set("signs/" + leaf.name, now);
      return g * rate;
    });
    return std::pair(moves, next);
  };
  return {"leafwise_signs(" + std::to_string(start) + ")", init, update};
}

int main() {
  // A chain: each member is given what the one before it returns.
  auto rule =
      optim::chain(optim::clip_by_global_norm(1.0), optim::adamw(1e-2, {.weight_decay = 0.01}));
  std::printf("adamw              %.4f\n", train(rule, 200));

  // Rates that change with the step: a function of Optax's name, or as people write them.
  auto warm = optim::warmup_cosine_decay_schedule(0.0, 2e-2, 20, 200);
  std::printf("warm-up and cosine %.4f\n", train(optim::adamw(warm), 200));
  optim::Schedule said = optim::pieces_schedule(
      optim::parse_schedule("linear 0 -> 2e-2 over 20, cosine -> 0 over 180"));
  std::printf("the same as text   %.4f\n", train(optim::adamw(said), 200));

  // Groups by patterns of paths; the first that fits takes a leaf.
  auto groups = optim::groups({{"**/bias", optim::sgd(1e-2)},
                               {"hidden/**", optim::adamw(1e-2)},
                               {"**", optim::chain(optim::scale_by_lion(), optim::scale(-1e-3))}});
  std::printf("groups             %.4f\n", train(groups, 200));

  // By name, as configurations have it.
  auto named = optim::make("adamw", {{"learning_rate", "linear 0 -> 2e-2 over 20, constant"},
                                     {"weight_decay", 0.01},
                                     {"mask", "**/kernel"}});
  std::printf("by name            %.4f\n", train(named, 200));

  // Any rule with its moments in 8 bits, where leaves are large enough to gain.
  auto few = optim::quantized_state(rule, {.min_size = 32});
  std::printf("states of 8 bits   %.4f\n", train(few, 200));

  std::printf("a rule of our own  %.4f\n",
              train(optim::chain(leafwise_signs(0.05, 1.1, 0.5), optim::scale(-1.0)), 200));

  // The state is a tree whose paths are upstream's; a file of it says whose it is.
  nn::Rngs rngs(0);
  Net net(rngs);
  const tree::Tree state = rule.init(tree::of(net));
  for (const std::string& name : state.names()) std::cout << name << "\n";
  const std::string file = "optimizer.safetensors";
  if (Status saved = checkpoint::save_optimizer_state(rule, state, file); !saved.ok()) return 1;
  auto again = checkpoint::load_optimizer_state(few, few.init(tree::of(net)), file);
  std::cout << (again.ok() ? "loaded" : again.status().message()) << "\n";

  // A mistake says what there is.
  try {
    optim::make("adamw", {{"learning_rate", 1e-3}, {"wd", 0.1}});
  } catch (const Error& e) {
    std::cout << e.what() << "\n";
  }
  std::remove(file.c_str());
  return 0;
}
