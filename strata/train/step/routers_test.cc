// Routers in a step: the same losses and gradients however a batch is divided, with weights and
// with several documents in a row; the bias after a step; figures for logs.
#include "strata/train/step/routers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "strata/api/index.h"
#include "strata/api/random.h"
#include "strata/api/transform/jit.h"
#include "strata/base/error.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/decoder/model.h"
#include "strata/train/step/router_losses.h"
#include "strata/train/step/rules.h"
#include "strata/train/step/step.h"

namespace strata::train {
namespace {

namespace decoder = model::decoder;
using decoder::BalanceScope;

decoder::Options some_options() {
  decoder::Options o{.family = "moe",
                     .vocab_size = 40,
                     .width = 16,
                     .layers = 3,
                     .query_heads = 2,
                     .kv_heads = 1,
                     .head_dim = 8,
                     .mlp_width = 24};
  o.ropes = {{.width = 8}};
  o.experts = {.count = 6,
               .active = 2,
               .width = 12,
               .shared_width = 8,
               .dense_layers = 1,
               .shared_gated = false,
               .score = decoder::RouterScore::sigmoid,
               .choice_bias = true,
               .scaling = 1.5};
  o.initial_deviation = 0.3;
  return o;
}

class RoutersTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  Batch batch(bool weighted, bool packed) const {
    const Array tokens = random::randint(random::key(1), {8, 13}, 0, 40);
    Batch b{tokens[{slice(), slice(0, 12)}], tokens[{slice(), slice(1, 13)}]};
    if (weighted || packed)
      b.weights = astype(less(random::uniform(random::key(2), {8, 12}), 0.6f), DType::f32);
    if (!packed) return b;
    // Two documents and padding at the end, of another length in each row.
    const Array place = expand_dims(arange(12), 0),
                end = expand_dims(array({12, 9, 7, 12, 10, 5, 12, 11}), 1);
    b.segments =
        where(less(place, Array(4)), Array(1), where(less(place, end), Array(2), Array(0)));
    b.positions = where(less(place, Array(4)), place, place - 4) + zeros_like(*b.segments);
    b.weights = *b.weights * astype(less(place, end), DType::f32);
    return b;
  }
  std::pair<Array, tree::Tree> gradients(const Batch& b, const StepOptions& options) const {
    return jit([&](const tree::Tree& p, const Batch& part) {
      return loss_and_gradients(p, part, model_, options);
    })(params(), b);
  }
  tree::Tree params() const { return model_->init(random::key(7)); }
  const model::ModelPtr model_ = decoder::model(some_options());
};

double distance(const tree::Tree& a, const tree::Tree& b) {
  double far = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto u = a.value(i).to_vector<float>(), v = b.value(i).to_vector<float>();
    for (std::size_t k = 0; k < u.size(); ++k) {
      const double d = static_cast<double>(u[k]) - v[k];
      far += d * d, size += static_cast<double>(v[k]) * v[k];
    }
  }
  return std::sqrt(far / size);
}

TEST_F(RoutersTest, LossesAndGradientsDoNotDependOnMicroBatches) {
  for (const BalanceScope scope : {BalanceScope::sequence, BalanceScope::global})
    for (const bool packed : {false, true}) {
      const bool plain = packed;
      const RouterOptions ask{
          .load_balance = 0.5, .scope = scope, .plain_scores = plain, .router_z = 0.1};
      const Batch b = batch(packed, packed);
      const auto [loss, all] = gradients(b, {.routers = ask});
      for (const std::int64_t parts : {2, 4, 8}) {
        const auto [same, g] = gradients(b, {.micro_batches = parts, .routers = ask});
        EXPECT_NEAR(same.item<float>() / loss.item<float>(), 1, 1e-6) << parts;
        EXPECT_LE(distance(g, all), 2e-6) << parts;
      }
      // They have a part in both.
      const auto [bare, without] = gradients(b, {});
      EXPECT_GT(loss.item<float>() - bare.item<float>(), 0.1f);
      EXPECT_GT(distance(without, all), 1e-3);
    }
}

TEST_F(RoutersTest, LossesAreThoseOfTheirSumsAndTheOthersStay) {
  const RouterOptions ask{.load_balance = 0.5, .router_z = 0.1};
  const Batch b = batch(true, false);
  const Optimizer optimizer{.rule = sgd(0.1)};
  const State state{params(), optimizer.rule.init(params())};
  const auto [bare, unused] = make_step(model_, optimizer)(state, b);
  const auto [outcome, next] = make_step(model_, optimizer, {.routers = ask})(state, b);
  EXPECT_NEAR(outcome.loss.item<float>(), bare.loss.item<float>(), 1e-6);
  const auto [objective, g] = gradients(b, {.routers = ask});
  EXPECT_NEAR(objective.item<float>(),
              outcome.loss.item<float>() + outcome.routers->load_balance.item<float>() +
                  outcome.routers->router_z.item<float>(),
              1e-6);
  // Tokens behind a row's last target that counts are left out.
  const float tokens = sum(tokens_of(b)).item<float>();
  EXPECT_LT(tokens, 8 * 12);
  EXPECT_THAT(sum(outcome.routers->chosen, 1).to_vector<float>(),
              testing::ElementsAre(0, 2 * tokens, 2 * tokens));
  // A softmax of scores times shares of experts: near 1 a sequence where loads are.
  EXPECT_GT(outcome.routers->load_balance.item<float>(), 0.5f * 0.9f);
  EXPECT_LT(outcome.routers->load_balance.item<float>(), 0.5f * 3);
}

TEST_F(RoutersTest, ABiasGoesAgainstTheLoadAndDoesNotDecay) {
  const Optimizer optimizer{.rule = adamw(0.1)};
  const RouterOptions ask{.bias_rate = 0.01};
  tree::Tree p = params().map([](const tree::Entry& e, const Array& a) {
    return e.name == decoder::kRouterBias ? full(a.shape().sizes(), 0.5f) : a;
  });
  for (const std::int64_t parts : {1, 4}) {
    const State before{p, optimizer.rule.init(p)};
    const auto [outcome, next] = make_step(
        model_, optimizer, {.micro_batches = parts, .routers = ask})(before, batch(false, false));
    const auto bias = next.params[decoder::kRouterBias].to_vector<float>();
    const auto chosen = outcome.routers->chosen.to_vector<float>();
    ASSERT_EQ(bias.size(), 12U);
    for (std::size_t i = 0; i < bias.size(); ++i) {
      const float mean = 8 * 12 * 2 / 6.f, got = chosen[6 + i];  // the first layer is dense
      EXPECT_FLOAT_EQ(bias[i], got < mean ? 0.51f : got > mean ? 0.49f : 0.5f);
    }
    const auto [same, stays] =
        make_step(model_, optimizer, {.micro_batches = parts, .routers = RouterOptions{}})(
            before, batch(false, false));
    EXPECT_THAT(stays.params[decoder::kRouterBias].to_vector<float>(), testing::Each(0.5f));
  }
}

TEST_F(RoutersTest, FiguresOfCounts) {
  const RouterFigures even = figures_of({0, 0, 0, 0, 6, 6, 6, 6}, {0, 3});
  EXPECT_DOUBLE_EQ(even.largest_load, 1);
  EXPECT_DOUBLE_EQ(even.entropy, 1);
  EXPECT_DOUBLE_EQ(even.idle, 0);
  EXPECT_DOUBLE_EQ(even.dropped, 3 / 24.);
  const RouterFigures one = figures_of({24, 0, 0, 0}, {0});
  EXPECT_DOUBLE_EQ(one.largest_load, 4);
  EXPECT_DOUBLE_EQ(one.entropy, 0);
  EXPECT_DOUBLE_EQ(one.idle, 0.75);
  EXPECT_EQ(figures_of({0, 0}, {0}).largest_load, 0);
}

TEST_F(RoutersTest, AModelWithoutExpertsIsRefused) {
  decoder::Options o = some_options();
  o.experts = {};
  const model::ModelPtr dense = decoder::model(o);
  const tree::Tree p = dense->init(random::key(1));
  EXPECT_THROW(
      (void)loss_and_gradients(p, batch(false, false), dense, {.routers = RouterOptions{}}), Error);
}

}  // namespace
}  // namespace strata::train
