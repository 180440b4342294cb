#include "strata/train/step/first_trouble.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/llama/family.h"
#include "strata/train/step/rules.h"

namespace strata::train {
namespace {

model::ModelPtr model() {
  compile::register_cpu();
  return llama::model({.vocab_size = 32,
                       .base_emb_dim = 8,
                       .base_num_decoder_layers = 4,
                       .base_num_query_heads = 2,
                       .base_num_kv_heads = 2,
                       .head_dim = 4,
                       .base_mlp_dim = 16});
}
Optimizer optimizer() { return {.rule = adamw(1e-3), .max_norm = 1}; }
State state() { return init(random::key(0), model(), optimizer()); }
Batch batch() {
  const Array tokens = random::randint(random::key(1), {2, 9}, 0, 32);
  return {tokens[{slice(), slice(0, 8)}], tokens[{slice(), slice(1, 9)}]};
}

/// The state with a weight's layer set to a number.
State with(const std::string& path, std::int64_t layer, float number) {
  State out = state();
  out.params = out.params.map([&](const tree::Entry& e, const Array& w) {
    if (e.name != path) return w;
    return concatenate({w[{slice(0, layer)}], full_like(w[{slice(layer, layer + 1)}], number),
                        w[{slice(layer + 1, w.shape(0))}]},
                       0);
  });
  return out;
}

TEST(FirstTrouble, NothingIsToldOfAStepThatIsFinite) {
  EXPECT_EQ(first_trouble(state(), batch(), model()), "");
}

TEST(FirstTrouble, WeightsComeFirst) {
  EXPECT_EQ(first_trouble(with("layers/up", 2, std::numeric_limits<float>::quiet_NaN()), batch(),
                          model()),
            "layers/up of layer 2 is not finite before the step");
}

TEST(FirstTrouble, ThenActivationsByLayer) {
  for (const std::int64_t layer : {0, 1, 2, 3})
    EXPECT_EQ(
        first_trouble(with("layers/up", layer, 3e38f), batch(), model(), {.micro_batches = 2}),
        "the activations of layer " + std::to_string(layer) +
            " of 4 are the first that are not finite, in its feed-forward part");
  EXPECT_EQ(first_trouble(with("layers/query", 1, 3e38f), batch(), model()),
            "the activations of layer 1 of 4 are the first that are not finite, in its attention");
}

TEST(FirstTrouble, AStepThatIsNotFiniteLeavesTheStateAsItWas) {
  const State before = with("layers/up", 1, 3e38f);
  auto [outcome, next] = make_step(model(), optimizer())(before, batch());
  EXPECT_FALSE(std::isfinite(outcome.loss.item<float>()));
  for (std::size_t i = 0; i < before.params.size(); ++i)
    EXPECT_EQ(next.params.value(i).to_vector<float>(), before.params.value(i).to_vector<float>());
  for (std::size_t i = 0; i < before.optimizer.size(); ++i)
    EXPECT_TRUE(all(equal(next.optimizer.value(i), before.optimizer.value(i))).item<bool>());
}

}  // namespace
}  // namespace strata::train
