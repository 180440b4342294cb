// The plain twin of a pipeline is the scan over all layers.
#include "strata/model/decoder/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/api/random.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/jit.h"
#include "strata/base/error.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/decoder/balance.h"
#include "strata/model/decoder/model.h"

namespace strata::model::decoder {
namespace {

struct Affine {
  Array w;
  STRATA_FIELDS(w)
};
struct Shift {
  Array b;
  STRATA_FIELDS(b)
};

Array plain(const Affine& layers, const Shift& each, const Array& x) {
  Array y = x;
  for (std::int64_t i = 0; i < layers.w.shape(0); ++i)
    y = tanh(numpy::matmul(y, layers.w[i])) + each.b[i];
  return y;
}
Array stage(const Affine& layers, const Array& x, const Shift& each) {
  return plain(layers, each, x);
}

TEST(PipelineTest, IsTheScanOverAllLayers) {
  compile::register_cpu();
  for (const Pipeline& p : {Pipeline{2, 1, 1, 2}, Pipeline{2, 2, 1, 4}, Pipeline{2, 1, 2, 2},
                            Pipeline{4, 1, 2, 4}, Pipeline{2, 2, 3, 6}}) {
    const Affine layers{random::normal(random::key(1), {p.layers(), 3, 3})};
    const Shift each{random::normal(random::key(2), {p.layers(), 1})};
    const Array x = random::normal(random::key(3), {12, 3});
    const auto of_pipeline = [&](const Affine& w) {
      return sum(square(run_pipeline(p, w, each, x, stage)));
    };
    const auto of_plain = [&](const Affine& w) { return sum(square(plain(w, each, x))); };
    const auto [mine, mine_g] = jit(value_and_grad(of_pipeline))(layers);
    const auto [whole, whole_g] = jit(value_and_grad(of_plain))(layers);
    EXPECT_NEAR(mine.item<float>() / whole.item<float>(), 1, 1e-6);
    EXPECT_LT(max(abs(mine_g.w - whole_g.w)).item<float>(),
              1e-5 * max(abs(whole_g.w)).item<float>());
  }
  EXPECT_DOUBLE_EQ((Pipeline{4, 1, 2, 4}).bubble(), 3.0 / 11);
}

TEST(PipelineTest, OfADecoderWithWindowsAndRotaryEmbeddingsOfItsLayers) {
  compile::register_cpu();
  Options o{.family = "rich",
            .vocab_size = 31,
            .width = 16,
            .layers = 4,
            .query_heads = 4,
            .kv_heads = 2,
            .head_dim = 6,
            .mlp_width = 20};
  o.windows = {4, 0, 3, 0};
  o.ropes = {{.theta = 1e4, .width = 6}, {.theta = 100, .width = 6}};
  o.rope_of_layer = {1, 0, -1, 0};
  o.initial_deviation = 0.3;
  const ModelPtr m = model(o);
  const tree::Tree params = m->init(random::key(0));
  const Array tokens = random::randint(random::key(1), {4, 7}, 0, 31);
  const auto loss = [&](const tree::Tree& p) {
    return mean(m->token_losses(p, tokens, numpy::roll(tokens, {1}, {1})));
  };
  const auto [whole, whole_g] = jit(value_and_grad(loss))(params);
  for (const char* policy : {"full_save", "full"}) {
    o.remat_policy = policy;
    const ModelPtr same = model(o);
    const Pipeline p{2, 1, 2, 4};
    const auto [mine, mine_g] = jit(value_and_grad([&](const tree::Tree& w) {
      const PipelineScope scope(p);
      return mean(same->token_losses(w, tokens, numpy::roll(tokens, {1}, {1})));
    }))(params);
    EXPECT_NEAR(mine.item<float>() / whole.item<float>(), 1, 1e-6);
    for (std::size_t i = 0; i < whole_g.values().size(); ++i)
      EXPECT_LT(max(abs(mine_g.value(i) - whole_g.value(i))).item<float>(),
                1e-5 * max(abs(whole_g.value(i))).item<float>() + 1e-8)
          << whole_g.entry(i).name;
  }
}

Options small() {
  Options o{.family = "small",
            .vocab_size = 31,
            .width = 16,
            .layers = 4,
            .query_heads = 4,
            .kv_heads = 2,
            .head_dim = 6,
            .mlp_width = 20};
  o.ropes = {{.theta = 1e4, .width = 6}};
  o.initial_deviation = 0.3;
  return o;
}

/// The loss and its gradients in stages beside those of all layers at once.
void expect_alike(const tree::Tree& params, const Pipeline& p,
                  const std::function<Array(const tree::Tree&)>& loss) {
  const auto [whole, whole_g] = jit(value_and_grad(loss))(params);
  const auto [mine, mine_g] = jit(value_and_grad([&](const tree::Tree& w) {
    const PipelineScope scope(p);
    return loss(w);
  }))(params);
  EXPECT_NEAR(mine.item<float>() / whole.item<float>(), 1, 1e-6);
  for (std::size_t i = 0; i < whole_g.values().size(); ++i)
    EXPECT_LT(max(abs(mine_g.value(i) - whole_g.value(i))).item<float>(),
              2e-5 * max(abs(whole_g.value(i))).item<float>() + 1e-7)
        << whole_g.entry(i).name;
}

TEST(PipelineTest, OfRowsThatHoldSeveralDocuments) {
  compile::register_cpu();
  const ModelPtr m = model(small());
  const tree::Tree params = m->init(random::key(0));
  const Array tokens = random::randint(random::key(1), {4, 7}, 0, 31);
  // A document ends elsewhere in each row.
  const Array place = expand_dims(arange(7), 0), end = expand_dims(arange(4), 1) + 2;
  const DocumentsInRows rows{astype(greater_equal(place, end), DType::i32) + 1,
                             where(less(place, end), place + zeros_like(end), place - end)};
  expect_alike(params, {2, 1, 2, 4}, [&](const tree::Tree& w) {
    return mean(m->packed_token_losses(w, tokens, numpy::roll(tokens, {1}, {1}), rows));
  });
}

TEST(PipelineTest, OfLayersWithExpertsAndWhatTheirRoutersCameTo) {
  compile::register_cpu();
  Options o = small();
  o.layers = 2;
  o.experts = {.count = 4, .active = 2, .width = 12, .capacity = 1.25};
  const ModelPtr m = model(o);
  const tree::Tree params = m->init(random::key(0));
  const Array tokens = random::randint(random::key(1), {4, 7}, 0, 31);
  const Pipeline p{2, 1, 1, 4};
  const RouterAsk ask{.options = {.load_balance = 1, .router_z = 1}};
  const auto routed = [&](const tree::Tree& w) {
    return routed_token_losses(*m, w, tokens, numpy::roll(tokens, {1}, {1}), {}, ask);
  };
  expect_alike(params, p, [&](const tree::Tree& w) {
    const auto [losses, sums] = routed(w);
    return mean(losses) + sums.balance * 0.1f + sums.router_z * 0.01f;
  });
  const RouterSums whole = jit(routed)(params).second;
  const RouterSums mine = jit([&](const tree::Tree& w) {
                            const PipelineScope scope(p);
                            return routed(w);
                          })(params)
                              .second;
  EXPECT_EQ(mine.chosen.to_vector<float>(), whole.chosen.to_vector<float>());
  EXPECT_NEAR(mine.balance.item<float>() / whole.balance.item<float>(), 1, 1e-5);
  // What depends on all that goes through at once is refused.
  const PipelineScope scope(p);
  RouterAsk at_once = ask;
  at_once.options.scope = BalanceScope::micro_batch;
  EXPECT_THROW((void)routed_token_losses(*m, params, tokens, tokens, {}, at_once), Error);
}

TEST(PipelineTest, MistakesAreNamed) {
  const auto said = [](const Pipeline& p, std::int64_t layers, std::int64_t batch) -> std::string {
    try {
      internal::check_pipeline(p, layers, batch);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  using testing::HasSubstr;
  EXPECT_THAT(said({2, 1, 2, 2}, 5, 4), HasSubstr("are 4 layers, the model has 5"));
  EXPECT_THAT(said({4, 1, 1, 2}, 4, 4), HasSubstr("2 microbatches are fewer than the 4 stages"));
  EXPECT_THAT(said({2, 1, 1, 2}, 2, 3), HasSubstr("3 sequences does not divide into 2"));
}

}  // namespace
}  // namespace strata::model::decoder
