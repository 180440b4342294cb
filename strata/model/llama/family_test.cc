// The interface gives what Llama's functions give, and refuses configurations by their keys.
#include "strata/model/llama/family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/api/random.h"
#include "strata/compile/cpu/cpu_client.h"

namespace strata::llama {
namespace {

const Config kConfig{.vocab_size = 256,
                     .base_emb_dim = 16,
                     .base_num_decoder_layers = 2,
                     .base_num_query_heads = 4,
                     .base_num_kv_heads = 2,
                     .head_dim = 8,
                     .base_mlp_dim = 24};

class FamilyTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

TEST_F(FamilyTest, IsTheFunctionsBehindOneInterface) {
  const model::ModelPtr m = model(kConfig);
  const tree::Tree weights = m->init(random::key(3));
  const Params params = init(random::key(3), kConfig);
  EXPECT_TRUE(tree::equal(weights, tree::of(params)));
  EXPECT_EQ(m->count(), count(kConfig));
  EXPECT_EQ(m->model::Model::count(), count(kConfig));
  EXPECT_EQ(m->flops_per_step(2, 8), flops_per_step(kConfig, 2, 8));
  const Array tokens = random::randint(random::key(1), {2, 9}, 0, 256);
  const Array x = tokens[{slice(), slice(0, 8)}], y = tokens[{slice(), slice(1, 9)}];
  EXPECT_EQ(m->forward(weights, x).to_vector<float>(),
            forward(params, x, kConfig).to_vector<float>());
  const auto losses = token_losses(params, x, y, kConfig).to_vector<float>();
  EXPECT_EQ(m->token_losses(weights, x, y).to_vector<float>(), losses);
  EXPECT_EQ(m->model::Model::token_losses(weights, x, y).to_vector<float>(), losses);
  const auto [logits, cache] = m->extend(weights, x, Array(0), m->init_cache(2, 12));
  const auto [want, kept] = extend(params, x, Array(0), init_cache(kConfig, 2, 12), kConfig);
  EXPECT_EQ(logits.to_vector<float>(), want.to_vector<float>());
  EXPECT_TRUE(tree::equal(cache, tree::of(kept)));
}

TEST_F(FamilyTest, EveryWeightHasItsLogicalAxes) {
  const tree::Tree weights = model(kConfig)->init(random::key(0));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    ASSERT_TRUE(weights.entry(i).metadata) << weights.entry(i).name;
    EXPECT_EQ(static_cast<int>(weights.entry(i).metadata->out_sharding.size()),
              weights.value(i).ndim())
        << weights.entry(i).name;
  }
}

TEST_F(FamilyTest, SettingsAreCheckedByKey) {
  const model::ModelPtr m = model::make("llama2", {{"base_emb_dim", "64"}, {"dtype", "bfloat16"}});
  EXPECT_EQ(m->dtype(), DType::bf16);
  EXPECT_EQ(m->init(random::key(0))["token_embedder"].shape(), Shape({256, 64}));
  const auto message = [](std::string_view family, const model::Settings& settings) -> std::string {
    try {
      (void)model::make(family, settings);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(message("lama2", {}), testing::HasSubstr("did you mean 'llama2'"));
  EXPECT_THAT(message("llama2", {{"base_emb_dims", "8"}}),
              testing::HasSubstr("did you mean 'base_emb_dim'"));
  EXPECT_THAT(message("llama2", {{"head_dim", "seven"}}), testing::HasSubstr("head_dim=seven"));
  EXPECT_THAT(message("llama2", {{"head_dim", "7"}}), testing::HasSubstr("must be even"));
  EXPECT_THAT(message("llama2", {{"base_num_kv_heads", "4"}}),
              testing::HasSubstr("does not divide base_num_query_heads=6"));
}

}  // namespace
}  // namespace strata::llama
