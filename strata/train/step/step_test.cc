#include "strata/train/step/step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "strata/api/index.h"
#include "strata/api/random.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/jit.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/llama/family.h"
#include "strata/train/step/rules.h"

namespace strata::train {
namespace {

using testing::HasSubstr;

constexpr double kIdentity = 1e-6;

class StepTest : public testing::Test {
 protected:
  StepTest() { compile::register_cpu(); }

  Batch batch(bool weighted, std::int64_t length = 24) const {
    const Array tokens = random::randint(random::key(1), {8, length + 1}, 0, 64);
    Batch b{tokens[{slice(), slice(0, length)}], tokens[{slice(), slice(1, length + 1)}]};
    if (weighted)
      b.weights = astype(less(random::uniform(random::key(2), {8, length}), 0.7f), DType::f32);
    return b;
  }
  tree::Tree params() const { return model_->init(random::key(0)); }
  std::pair<Array, tree::Tree> gradients(const Batch& b, std::int64_t parts) const {
    auto f = [&](const tree::Tree& p, const Batch& b) {
      return loss_and_gradients(p, b, model_, {.micro_batches = parts});
    };
    return jit(f)(params(), b);
  }
  const llama::Config config_{.vocab_size = 64,
                              .base_emb_dim = 32,
                              .base_num_decoder_layers = 2,
                              .base_num_query_heads = 4,
                              .base_num_kv_heads = 2,
                              .head_dim = 8,
                              .base_mlp_dim = 48};
  const model::ModelPtr model_ = llama::model(config_);
};

/// Relative L2 of all leaves together.
double distance(const tree::Tree& a, const tree::Tree& b) {
  double far = 0, size = 0;
  auto one = [&](const Array& x, const Array& y) {
    const auto u = x.to_vector<float>(), v = y.to_vector<float>();
    for (std::size_t i = 0; i < u.size(); ++i) {
      const double d = static_cast<double>(u[i]) - v[i];
      far += d * d;
      size += static_cast<double>(v[i]) * v[i];
    }
    return 0;
  };
  (void)tree::map_leaves<int>(one, a, b);
  return std::sqrt(far / size);
}

TEST_F(StepTest, MicroBatchesGiveTheGradientsOfTheWhole) {
  for (bool weighted : {false, true}) {
    const auto [loss, whole] = gradients(batch(weighted), 1);
    for (std::int64_t parts :
         weighted ? std::vector<std::int64_t>{2, 4, 8} : std::vector<std::int64_t>{8}) {
      const auto [summed, divided] = gradients(batch(weighted), parts);
      const double far = distance(divided, whole),
                   loss_far = std::abs(summed.item<double>() / loss.item<double>() - 1);
      std::cout << fmt::format("  {} micro-batches{}: loss {:.1e}, gradients {:.1e}\n", parts,
                               weighted ? ", weighted" : "", loss_far, far);
      EXPECT_LE(far, kIdentity);
      EXPECT_LE(loss_far, kIdentity);
    }
  }
}

// Sums go on from one micro-batch to the next (pass/dot/accumulator_folding.h): of products and
// looked up rows always, of reductions (the norms' scales) where a micro-batch has a multiple of
// 256 tokens.
TEST_F(StepTest, MicroBatchesGiveTheBitsOfTheWhole) {
  for (std::int64_t length : {24, 256}) {
    const auto [loss, whole] = gradients(batch(true, length), 1);
    for (std::int64_t parts : {2, 4, 8}) {
      const tree::Tree divided = gradients(batch(true, length), parts).second;
      for (std::size_t i = 0; i < whole.size(); ++i) {
        const std::string& name = whole.entry(i).name;
        if (length == 24 && name.ends_with("norm")) continue;
        EXPECT_EQ(divided[name].to_vector<float>(), whole.value(i).to_vector<float>())
            << name << ", " << parts << " micro-batches of " << length;
      }
    }
  }
}

// Two halves whose weights differ count by their weights, not each by one half.
TEST_F(StepTest, TheLossIsTheMeanOverTheWeights) {
  const Batch b = batch(true);
  const auto losses = model_->token_losses(params(), b.tokens, b.targets).to_vector<float>(),
             w = b.weights->to_vector<float>();
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    sum += static_cast<double>(losses[i]) * w[i];
    total += w[i];
  }
  EXPECT_NEAR(gradients(b, 4).first.item<double>(), sum / total, 1e-5);
  const auto [eval_sum, eval_total] = make_eval(model_)(params(), b);
  EXPECT_NEAR(eval_sum.item<double>(), sum, 1e-3);
  EXPECT_EQ(eval_total.item<double>(), total);
  Batch nothing = b;
  nothing.weights = zeros({8, 24});
  EXPECT_EQ(gradients(nothing, 2).first.item<double>(), 0);
}

TEST_F(StepTest, WithoutWeightsItIsTheMean) {
  const Batch b = batch(false);
  const auto want = jit(value_and_grad([&](const tree::Tree& p) {
    return mean(model_->token_losses(p, b.tokens, b.targets));
  }))(params());
  EXPECT_LE(distance(gradients(b, 1).second, want.second), kIdentity);
}

TEST_F(StepTest, NormsAreOfEachLeaf) {
  const Optimizer optimizer{.rule = adamw(0.0, {.weight_decay = 0})};
  const Batch b = batch(false);
  const tree::Tree g = gradients(b, 1).second;
  auto [outcome, next] = make_step(model_, optimizer)(
      jit([&](const Array& key) { return init(key, model_, optimizer); })(random::key(0)), b);
  auto norm = [](const Array& leaf) { return sqrt(sum(leaf * leaf)).item<double>(); };
  const auto gradient_norms = outcome.gradient_norms.to_vector<float>(),
             parameter_norms = outcome.parameter_norms.to_vector<float>();
  std::size_t i = 0;
  (void)tree::map_leaves<int>(
      [&](const Array& p, const Array& g) {
        EXPECT_NEAR(gradient_norms.at(i) / norm(g), 1, 1e-5);
        EXPECT_NEAR(parameter_norms.at(i++) / norm(p), 1, 1e-5);
        return 0;
      },
      params(), g);
  EXPECT_EQ(i, gradient_norms.size());
  EXPECT_EQ(outcome.total_weights.item<float>(), 8 * 24);
}

// Above the bound all gradients shrink by one factor; below they stay.
TEST_F(StepTest, LongGradientsAreScaledDownTogether) {
  const auto moved = [&](double bound) {
    const Optimizer optimizer{.rule = sgd(1.0), .max_norm = bound};
    const State before{params(), optimizer.rule.init(params())};
    const auto [outcome, after] = make_step(model_, optimizer)(before, batch(false));
    std::vector<float> out;
    for (std::size_t i = 0; i < after.params.size(); ++i)
      for (float x : (before.params.value(i) - after.params.value(i)).to_vector<float>())
        out.push_back(x);
    return out;
  };
  const auto norm = [](const std::vector<float>& v) {
    double squares = 0;
    for (float x : v) squares += static_cast<double>(x) * x;
    return std::sqrt(squares);
  };
  const std::vector<float> free = moved(0), bound = moved(norm(free) / 2);
  EXPECT_NEAR(norm(bound) / norm(free), 0.5, 1e-4);
  EXPECT_EQ(moved(2 * norm(free)), free);
  // Downhill.
  const auto [loss, g] = gradients(batch(false), 1);
  EXPECT_GT(free.back() * g["logits_dense"].to_vector<float>().back(), 0);
}

TEST_F(StepTest, WeightsOfBf16StaySo) {
  const Optimizer optimizer{.rule = adamw(1e-2)};
  auto [outcome, next] = make_step(model_, optimizer, {.micro_batches = 2})(
      jit([&](const Array& key) { return init(key, model_, optimizer, DType::bf16); })(
          random::key(0)),
      batch(false));
  tree::for_each(next.params, [](const Array& w) { EXPECT_EQ(w.dtype(), DType::bf16); });
  tree::for_each_path(next.optimizer, [](const std::string& path, const Array& m) {
    EXPECT_EQ(m.dtype(), path.ends_with("count") ? DType::i32 : DType::f32) << path;
  });
  EXPECT_TRUE(std::isfinite(outcome.loss.item<float>()));
}

// The rule does not see what is frozen; its gradients are not computed.
TEST_F(StepTest, FrozenWeightsStay) {
  const Optimizer optimizer{.rule = adamw(1e-2),
                            .frozen = tree::path("token_embedder") || tree::path("layers/*norm")};
  const State before =
      jit([&](const Array& key) { return init(key, model_, optimizer); })(random::key(0));
  EXPECT_FALSE(before.optimizer.contains("0/mu/token_embedder"));
  EXPECT_TRUE(before.optimizer.contains("0/mu/layers/query"));
  for (std::int64_t parts : {1, 2}) {
    auto [outcome, next] =
        make_step(model_, optimizer, {.micro_batches = parts})(before, batch(false));
    const auto norms = outcome.gradient_norms.to_vector<float>();
    for (std::size_t i = 0; i < next.params.size(); ++i) {
      const std::string& name = next.params.entry(i).name;
      const bool frozen =
          name == "token_embedder" || (name.starts_with("layers/") && name.ends_with("norm"));
      const tree::Tree one({{"w", next.params.value(i)}}), other({{"w", before.params[name]}});
      EXPECT_EQ(tree::equal(one, other), frozen) << name;
      EXPECT_EQ(norms.at(i) == 0, frozen) << name;
    }
  }
  // The gradients of the others are those that they have beside it.
  const auto [loss, all] = gradients(batch(false), 1);
  const auto [same, some] = jit([&](const tree::Tree& p, const Batch& b) {
    return loss_and_gradients(p, b, model_, {}, optimizer.frozen);
  })(params(), batch(false));
  EXPECT_LE(distance(some, all.filter(!*optimizer.frozen)), kIdentity);
}

TEST_F(StepTest, ABatchThatDoesNotDivideIsRefused) {
  try {
    (void)gradients(batch(false), 3);
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("a batch of 8 sequences does not divide into 3 micro-batches"));
  }
}

}  // namespace
}  // namespace strata::train
