// Latent attention: its two forms are one function, a cache holds what it should, adapters count in
// both, and a GGUF file gives the tensors back.
#include "strata/model/decoder/latent_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/base/error.h"
#include "strata/checkpoint/arrays.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/convert/convert.h"
#include "strata/model/decoder/gate.h"
#include "strata/model/decoder/model.h"
#include "strata/model/decoder/weights.h"
#include "strata/model/lora/lora.h"
#include "strata/model/pretrained.h"

namespace strata::model::decoder {
namespace {

namespace fs = std::filesystem;

const fs::path kData = fs::path(__FILE__).parent_path().parent_path() / "testdata/published";

Options options() {
  Options o{.family = "deepseek_v3",
            .vocab_size = 31,
            .width = 16,
            .layers = 2,
            .query_heads = 3,
            .kv_heads = 3,
            .head_dim = 10,
            .mlp_width = 20};
  o.latent = {.kv_rank = 7, .query_rank = 8, .plain_dim = 6, .turned_dim = 4, .value_dim = 5};
  o.attention_scale = 0.3;
  o.ropes = {{.width = 4}};
  o.pairing = Pairing::neighbours;
  o.initial_deviation = 0.3;
  return o;
}

class LatentAttentionTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

TEST_F(LatentAttentionTest, ACacheHoldsOneVectorOfEachToken) {
  const ModelPtr m = model(options());
  const tree::Tree cache = m->init_pages(3, 4);
  ASSERT_EQ(cache.size(), 1u);
  EXPECT_EQ(cache["key"].shape(), Shape({2 * 3, 4, 1, 7 + 4}));
}

TEST_F(LatentAttentionTest, BothFormsAreOneFunction) {
  for (const std::int64_t rank : {0, 8}) {
    Options o = options();
    o.latent.query_rank = rank;
    const ModelPtr m = model(o);
    const tree::Tree w = m->init(random::key(1));
    const Array text = random::randint(random::key(5), {2, 9}, 0, 31);
    const Array whole = m->forward(w, text),
                cached = m->extend(w, text, Array(0), m->init_cache(2, 12)).first;
    EXPECT_LE(max(abs(whole - cached)).item<float>(), 2e-5f);
  }
}

TEST_F(LatentAttentionTest, AdaptersCountInBothForms) {
  const ModelPtr base = model(options());
  const tree::Tree params = base->init(random::key(1));
  const ModelPtr m =
      lora::with_adapters(base, std::map<std::string, AdapterOptions, std::less<>>{
                                    {"layers/latent_attention/kv_b", {.rank = 2, .alpha = 2}}});
  tree::Tree w = lora::add_adapters(m, params, random::key(2));
  w = w.map([](const Array& a) { return all(equal(a, 0)).item<bool>() ? a + 0.2f : a; });
  const Array text = random::randint(random::key(5), {1, 6}, 0, 31);
  const Array whole = m->forward(w, text),
              cached = m->extend(w, text, Array(0), m->init_cache(1, 8)).first;
  EXPECT_LE(max(abs(whole - cached)).item<float>(), 2e-5f);
  EXPECT_GT(max(abs(whole - base->forward(params, text))).item<float>(), 1e-2f);
}

TEST_F(LatentAttentionTest, WidthsThatContradictEachOtherAreRefused) {
  const auto refused = [](const std::function<void(Options&)>& change) {
    Options o = options();
    change(o);
    try {
      check(o);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused([](Options&) {}), "");
  EXPECT_THAT(refused([](Options& o) { o.kv_heads = 1; }), testing::HasSubstr("num_key_value"));
  EXPECT_THAT(refused([](Options& o) { o.latent.turned_dim = 6; }),
              testing::HasSubstr("qk_rope_head_dim=6"));
  EXPECT_THAT(refused([](Options& o) { o.latent.value_dim = 0; }),
              testing::HasSubstr("v_head_dim=0"));
}

TEST_F(LatentAttentionTest, AGgufFileGivesTheTensorsBack) {
  for (const char* name : {"deepseek_v2", "deepseek_v3"}) {
    const std::string from = (kData / name).string(), file = testing::TempDir() + "latent.gguf",
                      back = testing::TempDir() + "latent_back";
    fs::remove(file);
    fs::remove_all(back);
    const auto there = convert(from, file, {.type = "F32"});
    ASSERT_TRUE(there.ok()) << name << there.status().message();
    const auto returned = convert(file, back, {});
    ASSERT_TRUE(returned.ok()) << name << returned.status().message();
    const auto before = checkpoint::load_file(from + "/model.safetensors").value(),
               after = checkpoint::load_file(back + "/model.safetensors").value();
    ASSERT_EQ(before.size(), after.size());
    for (const auto& [key, tensor] : before) {
      ASSERT_TRUE(after.contains(key)) << key;
      EXPECT_TRUE(
          array_equal(tensor.astype(DType::f32), after.at(key).astype(DType::f32)).item<bool>())
          << key;
    }
    EXPECT_EQ(load(back).value().model->family(), name);
  }
}

TEST_F(LatentAttentionTest, AGateChoosesWithinGroupsByBiasedScores) {
  // Groups {0, 1}, {2, 3}, {4, 5}; the best two of the middle one add up to less.
  const Array logits = array({{1.f, 1.f, 1.2f, -9.f, 0.9f, 0.9f}});
  ExpertOptions o{.count = 6, .active = 2, .width = 1, .score = RouterScore::sigmoid};
  o.groups = 3, o.active_groups = 1, o.group_score_of = 2, o.scaling = 2;
  const Gate first = chosen_experts(logits, o);
  EXPECT_THAT(first.experts.to_vector<std::int32_t>(), testing::ElementsAre(0, 1));
  EXPECT_THAT(first.weights.to_vector<float>(), testing::ElementsAre(1, 1));
  // A bias moves the choice and not the weights.
  const Gate moved = chosen_experts(logits, o, array({0.f, 0.f, 0.f, 0.f, 1.f, 2.f}));
  EXPECT_THAT(moved.experts.to_vector<std::int32_t>(), testing::ElementsAre(5, 4));
  EXPECT_THAT(moved.weights.to_vector<float>(), testing::ElementsAre(1, 1));
}

}  // namespace
}  // namespace strata::model::decoder
