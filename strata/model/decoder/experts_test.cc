// Experts: which are chosen, what each token gets of them, gradients of every weight, and the way
// through a GGUF file and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/jit.h"
#include "strata/base/error.h"
#include "strata/checkpoint/arrays.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/convert/convert.h"
#include "strata/model/decoder/feed_forward.h"
#include "strata/model/decoder/model.h"
#include "strata/model/pretrained.h"

namespace strata::model::decoder {
namespace {

namespace fs = std::filesystem;

class ExpertsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

Experts some(std::int64_t count, std::int64_t width, std::int64_t hidden) {
  const auto draw = [](int seed, std::vector<std::int64_t> shape) {
    return random::normal(random::key(seed), shape) * 0.5f;
  };
  Experts e;
  e.router.kernel = draw(1, {width, count});
  e.gate.kernel = draw(2, {count, width, hidden});
  e.up.kernel = draw(3, {count, width, hidden});
  e.down.kernel = draw(4, {count, hidden, width});
  return e;
}

TEST_F(ExpertsTest, ChoosesTheHighestScoresAndOfEqualOnesTheFirst) {
  Experts e = some(4, 2, 3);
  // Scores 1 3 3 2 for the first token, all equal for the second.
  e.router.kernel = array({{1.f, 3.f, 3.f, 2.f}, {0.f, 0.f, 0.f, 0.f}});
  const Array x = array({{1.f, 0.f}, {0.f, 1.f}});
  const ExpertOptions o{.count = 4, .active = 2, .width = 3};
  const std::vector<float> w = e.weights(x, o).to_vector<float>();
  EXPECT_THAT(w, testing::ElementsAre(0, 0.5f, 0.5f, 0, 0.5f, 0.5f, 0, 0));
  ExpertOptions as_is = o;
  as_is.renormalise = false;
  const std::vector<float> p = e.weights(x, as_is).to_vector<float>();
  EXPECT_NEAR(p[1], std::exp(3) / (std::exp(1) + 2 * std::exp(3) + std::exp(2)), 1e-6);
  EXPECT_EQ(p[4], 0.25f);
}

TEST_F(ExpertsTest, IsTheSumOverChosenExpertsOneByOne) {
  const Experts e = some(5, 6, 4);
  const Array x = random::normal(random::key(9), {2, 3, 6});
  const ExpertOptions o{.count = 5, .active = 3, .width = 4};
  const Array w = e.weights(x, o);
  Array want = zeros_like(x);
  for (int i = 0; i < 5; ++i) {
    const Array h =
        activate(dot(x, Array(e.gate.kernel)[i]), Activation::silu) * dot(x, Array(e.up.kernel)[i]);
    want = want + dot(h, Array(e.down.kernel)[i]) * w[{ellipsis, slice(i, i + 1)}];
  }
  EXPECT_LE(max(abs(e(x, o, Activation::silu) - want)).item<float>(), 1e-5f);
}

TEST_F(ExpertsTest, GradientIsTheSlopeOfEveryWeight) {
  EnableX64 wide;
  Options o{.family = "qwen2_moe",
            .vocab_size = 11,
            .width = 8,
            .layers = 3,
            .query_heads = 2,
            .kv_heads = 1,
            .head_dim = 4,
            .mlp_width = 10,
            .dtype = DType::f64};
  o.ropes = {{.width = 4}};
  o.experts = {.count = 4,
               .active = 2,
               .width = 6,
               .shared_width = 5,
               .renormalise = false,
               .dense_layers = 1};
  o.initial_deviation = 0.4;
  const ModelPtr m = model(o);
  const tree::Tree p = m->cast(m->init(random::key(3)), DType::f64);
  const Array x = random::randint(random::key(1), {2, 5}, 0, 11),
              y = random::randint(random::key(2), {2, 5}, 0, 11);
  const auto loss = [&](const tree::Tree& q) { return mean(m->token_losses(q, x, y)); };
  const tree::Tree g = grad(loss)(p);
  const auto value = jit(loss);
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Array weight = p.value(i);
    const Array direction =
        random::normal(random::key(static_cast<int>(i)), weight.shape(), DType::f64);
    const auto at = [&](double step) {
      std::vector<Array> leaves;
      for (std::size_t k = 0; k < p.size(); ++k)
        leaves.push_back(k == i ? weight + step * direction : p.value(k));
      return value(p.with_values(leaves)).item<double>();
    };
    constexpr double kStep = 1e-6;
    const double slope = (at(kStep) - at(-kStep)) / (2 * kStep),
                 said = sum(g.value(i) * direction).item<double>();
    EXPECT_NEAR(said, slope, 1e-7 * std::max(1.0, std::abs(slope))) << p.names()[i];
    EXPECT_GT(std::abs(said), 1e-7) << p.names()[i] << " has a part in the loss";
  }
}

TEST_F(ExpertsTest, GgufHoldsThemInOneTensorAndGivesThemBack) {
  const fs::path data =
      fs::path(__FILE__).parent_path().parent_path() / "testdata/published/mixtral";
  const fs::path folder = fs::path(testing::TempDir()) / "experts_gguf";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string file = (folder / "m.gguf").string(), back = (folder / "back").string();
  const auto there = convert(data.string(), file);
  ASSERT_TRUE(there.ok()) << there.status().message();
  const auto read = load(file);
  ASSERT_TRUE(read.ok()) << read.status().message();
  const auto golden = checkpoint::load_file((data / "golden.safetensors").string()).value();
  EXPECT_LE(max(abs(read->model->forward(read->params, golden.at("tokens")) - golden.at("logits")))
                .item<float>(),
            1e-4f);
  const auto returned = convert(file, back);
  ASSERT_TRUE(returned.ok()) << returned.status().message();
  const auto want = checkpoint::load_file((data / "model.safetensors").string()).value(),
             got = checkpoint::load_file(back + "/model.safetensors").value();
  ASSERT_EQ(want.size(), got.size());
  for (const auto& [name, tensor] : want)
    EXPECT_EQ(max(abs(astype(tensor, DType::f32) - astype(got.at(name), DType::f32))).item<float>(),
              0)
        << name;
  fs::remove_all(folder);
}

TEST_F(ExpertsTest, RoutesAreSharesOfTokens) {
  Options o{.family = "qwen2_moe",
            .vocab_size = 11,
            .width = 8,
            .layers = 3,
            .query_heads = 2,
            .kv_heads = 1,
            .head_dim = 4,
            .mlp_width = 10};
  o.ropes = {{.width = 4}};
  o.experts = {.count = 4, .active = 2, .width = 6, .dense_layers = 1};
  o.initial_deviation = 0.4;
  const ModelPtr m = model(o);
  const Array tokens = random::randint(random::key(1), {3, 8}, 0, 11);
  tree::Tree p = m->init(random::key(3));
  const Array all = routes(*m, p, tokens);
  EXPECT_THAT(sum(all, 1).to_vector<float>(),
              testing::ElementsAre(0, testing::FloatNear(2, 1e-5f), testing::FloatNear(2, 1e-5f)));
  // Of equal scores the first experts are chosen.
  p = p.map([](const tree::Entry& e, const Array& a) {
    return e.name == "layers/experts/router/kernel" ? zeros_like(a) : a;
  });
  EXPECT_THAT(routes(*m, p, tokens).to_vector<float>(),
              testing::ElementsAre(0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0));
  o.experts = {};
  EXPECT_THROW((void)routes(*model(o), model(o)->init(random::key(1)), tokens), Error);
}

TEST_F(ExpertsTest, SaysWhatDoesNotFit) {
  Options o{.family = "mixtral",
            .vocab_size = 11,
            .width = 8,
            .layers = 2,
            .query_heads = 2,
            .kv_heads = 1,
            .head_dim = 4,
            .mlp_width = 10};
  o.experts = {.count = 4, .active = 5, .width = 6};
  EXPECT_THROW((void)model(o), Error);
  o.experts = {.count = 4, .active = 2, .width = 6, .dense_layers = 2};
  EXPECT_THROW((void)model(o), Error);
}

}  // namespace
}  // namespace strata::model::decoder
