// Further tokens in a step: losses and gradients do not depend on how a batch is divided, whatever
// targets count and however many documents stand in a row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/api/transform/jit.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/decoder/model.h"
#include "strata/model/decoder/multi_token.h"
#include "strata/train/step/rules.h"
#include "strata/train/step/step.h"

namespace strata::train {
namespace {

namespace decoder = model::decoder;

class FurtherTokensTest : public testing::TestWithParam<bool> {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  static decoder::Options options(bool experts) {
    decoder::Options o{.family = "test",
                       .vocab_size = 40,
                       .width = 16,
                       .layers = 2,
                       .query_heads = 2,
                       .kv_heads = 1,
                       .head_dim = 8,
                       .mlp_width = 24};
    o.mtp_layers = 2;
    o.ropes = {{.width = 8}};
    o.initial_deviation = 0.3;
    if (experts)
      o.experts = {.count = 6,
                   .active = 2,
                   .width = 12,
                   .dense_layers = 1,
                   .score = decoder::RouterScore::sigmoid,
                   .choice_bias = true};
    return o;
  }
  static Batch batch() {
    const Array tokens = random::randint(random::key(1), {8, 13}, 0, 40);
    Batch b{tokens[{slice(), slice(0, 12)}], tokens[{slice(), slice(1, 13)}]};
    const Array place = expand_dims(arange(12), 0),
                end = expand_dims(array({12, 9, 7, 12, 10, 5, 12, 11}), 1);
    b.segments =
        where(less(place, Array(4)), Array(1), where(less(place, end), Array(2), Array(0)));
    b.positions = where(less(place, Array(4)), place, place - 4) + zeros_like(*b.segments);
    b.weights = astype(less(random::uniform(random::key(2), {8, 12}), 0.6f), DType::f32) *
                astype(less(place, end), DType::f32);
    return b;
  }
  StepOptions asked(std::int64_t parts, decoder::BalanceScope scope) const {
    StepOptions out{.micro_batches = parts, .mtp_loss_factor = 0.3};
    if (GetParam())
      out.routers =
          RouterOptions{.load_balance = 0.2, .scope = scope, .router_z = 0.1, .bias_rate = 0.01};
    return out;
  }
  const model::ModelPtr model_ = decoder::model(options(GetParam()));
  const tree::Tree params_ = model_->init(random::key(7));
};

double distance(const tree::Tree& a, const tree::Tree& b) {
  double far = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto u = a.value(i).to_vector<float>(), v = b.value(i).to_vector<float>();
    for (std::size_t k = 0; k < u.size(); ++k) {
      far = std::max(far, std::abs(static_cast<double>(u[k]) - v[k]));
      size = std::max(size, std::abs(static_cast<double>(v[k])));
    }
  }
  return far / size;
}

TEST_P(FurtherTokensTest, LossesAndGradientsDoNotDependOnMicroBatches) {
  using decoder::BalanceScope;
  for (const BalanceScope scope : {BalanceScope::sequence, BalanceScope::global}) {
    const auto of = [&](std::int64_t parts) {
      return jit([&](const tree::Tree& p, const Batch& b) {
        return loss_and_gradients(p, b, model_, asked(parts, scope));
      })(params_, batch());
    };
    const auto [loss, gradients] = of(1);
    for (const std::int64_t parts : {2, 4, 8}) {
      const auto [same, also] = of(parts);
      EXPECT_NEAR(same.item<float>(), loss.item<float>(), 2e-6 * loss.item<float>()) << parts;
      EXPECT_LT(distance(also, gradients), 2e-6) << parts;
    }
    if (!GetParam()) break;
  }
}

TEST_P(FurtherTokensTest, AStepTellsTheirLossAndTrainsTheirWeights) {
  const Optimizer optimizer{.rule = sgd(0.1)};
  const Batch b = batch();
  const Step step = make_step(model_, optimizer, asked(2, decoder::BalanceScope::sequence));
  const auto [outcome, next] =
      step(init(params_.map([](const Array& a) { return a + 0; }), optimizer), b);
  const decoder::MultiTokenLosses l = decoder::multi_token_losses(
      *model_, params_, b.tokens, b.targets, documents_of(b), b.weights);
  const float count = decoder::further_count(*b.weights, b.segments, 2).item<float>();
  EXPECT_NEAR(outcome.mtp_loss->item<float>(), 0.3f * l.further->item<float>() / count, 1e-6);
  EXPECT_NEAR(outcome.loss.item<float>(),
              (sum(l.losses * *b.weights) / sum(*b.weights)).item<float>(), 1e-5);
  for (std::size_t i = 0; i < params_.size(); ++i) {
    const std::string& name = params_.entry(i).name;
    EXPECT_NE(next.params.value(i).to_vector<float>(), params_.value(i).to_vector<float>()) << name;
    if (name.ends_with("choice_bias") && name.starts_with("mtp")) {
      const auto bias = next.params.value(i).to_vector<float>();
      const auto chosen = outcome.routers->chosen[slice(2, 4)].to_vector<float>();
      for (std::size_t k = 0; k < bias.size(); ++k) {
        const double mean =
            std::accumulate(chosen.begin() + static_cast<long>(k / 6 * 6),
                            chosen.begin() + static_cast<long>(k / 6 * 6 + 6), 0.0) /
            6;
        EXPECT_NEAR(bias[k], chosen[k] < mean ? 0.01 : chosen[k] > mean ? -0.01 : 0, 1e-7);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DenseAndExperts, FurtherTokensTest, testing::Bool());

}  // namespace
}  // namespace strata::train
