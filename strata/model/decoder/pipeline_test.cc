// The plain twin of a pipeline is the scan over all layers.
#include "strata/model/decoder/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/api/grad.h"
#include "strata/api/jit.h"
#include "strata/api/random.h"
#include "strata/compile/cpu/cpu_client.h"
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
  // Packed rows have places of their own.
  const Pipeline p{2, 2, 1, 2};
  const PipelineScope scope(p);
  const Array places = broadcast_to(expand_dims(arange(7), 0), {4, 7});
  EXPECT_THROW((void)m->packed_token_losses(params, tokens, tokens, {places, places}), Error);
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
