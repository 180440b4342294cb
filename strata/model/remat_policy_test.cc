// What the backward pass keeps of layers with experts, latent attention and the gated delta rule:
// gradients have the same bits, and what a policy names is there to be kept.
#include "strata/model/remat_policy.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/jit.h"
#include "strata/base/error.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/decoder/model.h"

namespace strata::model {
namespace {

using testing::HasSubstr;

class RematPolicyTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

decoder::Options latent_experts() {
  decoder::Options o{.family = "deepseek_v3",
                     .vocab_size = 31,
                     .width = 16,
                     .layers = 3,
                     .query_heads = 3,
                     .kv_heads = 3,
                     .head_dim = 10,
                     .mlp_width = 20};
  o.latent = {.kv_rank = 7, .query_rank = 8, .plain_dim = 6, .turned_dim = 4, .value_dim = 5};
  o.attention_scale = 0.3;
  o.ropes = {{.width = 4}};
  o.pairing = decoder::Pairing::neighbours;
  o.experts = {.count = 4, .active = 2, .width = 6, .shared_width = 5, .dense_layers = 1};
  o.initial_deviation = 0.3;
  return o;
}

decoder::Options delta_rule() {
  decoder::Options o{.family = "qwen3_next",
                     .vocab_size = 31,
                     .width = 16,
                     .layers = 2,
                     .query_heads = 2,
                     .kv_heads = 1,
                     .head_dim = 8,
                     .mlp_width = 20};
  o.ropes = {{.width = 8}};
  o.gated_attention = true;
  o.delta = {.key_heads = 2, .value_heads = 2, .key_dim = 4, .value_dim = 4, .layers = {0}};
  o.initial_deviation = 0.3;
  return o;
}

/// The program of a loss's gradients under a policy, and what it gives.
struct Gradients {
  tree::Tree values;
  std::string program;
};
Gradients gradients(decoder::Options o, const std::string& policy) {
  o.remat_policy = policy;
  const ModelPtr m = decoder::model(o);
  const Array text = random::randint(random::key(1), {2, 7}, 0, 31);
  const auto f = jit([&](const tree::Tree& p) {
    return grad([&](const tree::Tree& q) {
      return mean(m->token_losses(q, text, numpy::roll(text, {1}, {1})));
    })(p);
  });
  const tree::Tree first = m->init(random::key(1));
  return {f(first), f.lower(first).as_text()};
}

std::size_t times(const std::string& text, std::string_view part) {
  std::size_t out = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++out;
  return out;
}

TEST_F(RematPolicyTest, NoPolicyChangesABit) {
  const std::string all = fmt::format("names:{}", fmt::join(remat_tensors(), ","));
  for (const decoder::Options& o : {latent_experts(), delta_rule()}) {
    const Gradients kept = gradients(o, "full_save");
    for (const std::string& policy : {std::string("full"), std::string("minimal"), all})
      EXPECT_TRUE(tree::equal(gradients(o, policy).values, kept.values)) << o.family << policy;
  }
}

TEST_F(RematPolicyTest, WhatIsKeptIsNotComputedAgain) {
  const auto products = [](const std::string& policy) {
    return times(gradients(latent_experts(), policy).program, "strata.gmm");
  };
  // Three products ahead, three again, three of rows' gradients.
  EXPECT_EQ(products("full"), 9u);
  EXPECT_EQ(products("names:mlpwi_1"), 8u);
  EXPECT_EQ(products("names:moe_mlpwi_0,moe_mlpwi_1"), 7u);
  EXPECT_EQ(products("names:context"), 9u);
  EXPECT_EQ(products("minimal"), 6u);
}

TEST_F(RematPolicyTest, SaysWhichThereAre) {
  EXPECT_NO_THROW(check_remat_policy("m", "names:query_proj,mlpwo"));
  const auto refusal = [](std::string_view policy) {
    try {
      check_remat_policy("m", policy);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(refusal("some"), HasSubstr("allowed is full_save, minimal_with_context"));
  EXPECT_THAT(refusal("names:"), HasSubstr("a layer has no tensor ''"));
  EXPECT_THAT(refusal("names:mlpwi_0,some"), HasSubstr("no tensor 'some'; there are query_proj"));
}

}  // namespace
}  // namespace strata::model
