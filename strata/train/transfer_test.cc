// Rates of a small model for larger ones: the table of transfer.h, number by number.
#include "strata/train/transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/api/transform/jit.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/train/config/optimizer.h"
#include "strata/train/state.h"

namespace strata::train {
namespace {

using testing::HasSubstr;

class TransferTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  /// A tiny Llama of so many heads of width 8, and layers.
  static Config config(int heads, int layers, std::vector<std::string> more = {}) {
    std::vector<std::string> keys = {
        fmt::format("base_emb_dim={}", 8 * heads),
        fmt::format("base_num_query_heads={}", heads),
        fmt::format("base_num_kv_heads={}", heads),
        "head_dim=8",
        fmt::format("base_mlp_dim={}", 16 * heads),
        fmt::format("base_num_decoder_layers={}", layers),
        "lr_schedule_type=constant",
        "learning_rate=0.01",
        "gradient_clipping_threshold=0",
        "adam_eps=0",
    };
    keys.insert(keys.end(), more.begin(), more.end());
    return read_config({}, keys, Data::optional);
  }
  static double deviation(const Array& w) {
    return std::sqrt(mean(square(astype(w, DType::f32))).item<float>());
  }
  static std::string refusal(const Config& c) {
    try {
      (void)make_optimizer(c);
    } catch (const ConfigError& e) {
      return e.what();
    }
    return "";
  }
};

constexpr const char* kBase = "optimizer.transfer={base_emb_dim: 16, base_num_decoder_layers: 2}";

TEST_F(TransferTest, TheSmallModelItselfStaysAsItIs) {
  const State plain = init_state(config(2, 2)), same = init_state(config(2, 2, {kBase}));
  const auto a = tree::of(plain), b = tree::of(same);
  ASSERT_EQ(a.names(), b.names());
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_TRUE(array_equal(a.value(i), b.value(i)).item<bool>()) << a.names()[i];
}

TEST_F(TransferTest, FirstWeightsAreThoseOfTheTable) {
  // Twice as wide, three times as deep; a row's fan-in is 32 for 16.
  const tree::Tree p = tree::of(init_state(config(4, 6, {kBase})).params);
  const double small = 1 / std::sqrt(16.0);
  EXPECT_NEAR(deviation(p["token_embedder"]), small, small * 0.05);
  EXPECT_NEAR(deviation(p["layers/query"]), small / std::sqrt(2.0), small * 0.05);
  EXPECT_NEAR(deviation(p["layers/out"]), small / std::sqrt(2.0) / 3, small * 0.02);
  EXPECT_NEAR(deviation(p["layers/down"]), 1 / std::sqrt(32.0) / std::sqrt(2.0) / 3, small * 0.02);
  EXPECT_NEAR(deviation(p["logits_dense"]), small / 2, small * 0.03);
  EXPECT_EQ(deviation(p["decoder_norm"]), 1);
}

TEST_F(TransferTest, StepsAndDecayAreThoseOfTheTable) {
  const auto moved = [](const std::vector<std::string>& keys) {
    const Optimizer o = make_optimizer(config(4, 6, keys));
    const tree::Tree p = tree::of(init_state(config(4, 6)).params);
    const tree::Tree g = p.map([](const Array& w) { return ones(w.shape()); });
    return o.rule.update(g, o.rule.init(p), &p, {}).first;
  };
  // Without decay each number moves by the rate, and here by rate / f.
  const tree::Tree steps = moved({kBase, "adam_weight_decay=0"});
  const std::pair<const char*, double> want[] = {
      {"token_embedder", 1}, {"layers/attention_norm", 1},
      {"layers/query", 2},   {"layers/gate", 2},
      {"layers/out", 6},     {"layers/down", 6},
      {"logits_dense", 2},   {"decoder_norm", 1}};
  for (const auto& [name, f] : want)
    EXPECT_LE(max(abs(steps[name] + 0.01 / f)).item<float>(), 1e-7) << name;
  // What decay adds is the same with and without.
  const tree::Tree all = moved({kBase, "adam_weight_decay=0.5"}),
                   none = moved({"adam_weight_decay=0"}), plain = moved({"adam_weight_decay=0.5"});
  for (const auto& [name, f] : want)
    EXPECT_LE(max(abs((all[name] - steps[name]) - (plain[name] - none[name]))).item<float>(), 1e-7)
        << name;
}

TEST_F(TransferTest, PublishedFamiliesAndExpertsGoByTheirPaths) {
  const Transfer t{.base_width = 1, .base_layers = 1, .width = 4, .depth = 3};
  const std::pair<const char*, double> want[] = {{"embedder/embedding", 1},
                                                 {"positions/embedding", 1},
                                                 {"layers/attention_norm/scale", 1},
                                                 {"layers/attention/query/kernel", 4},
                                                 {"layers/attention/query/bias", 1},
                                                 {"layers/attention/out/kernel", 12},
                                                 {"layers/experts/router/kernel", 4},
                                                 {"layers/experts/gate/kernel", 4},
                                                 {"layers/experts/down/kernel", 12},
                                                 {"layers/experts/shared/down/kernel", 12},
                                                 {"dense_layers/mlp/down/kernel", 12},
                                                 {"logits/kernel", 4}};
  for (const auto& [path, f] : want) EXPECT_EQ(transfer_factor(t, path), f) << path;
  const Config c = read_config(
      {},
      {"decoder_block=published",
       R"(config={"model_type": "mixtral", "vocab_size": 64, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2, "num_local_experts": 4, "num_experts_per_tok": 2, "tie_word_embeddings": false})",
       "optimizer.transfer={base_emb_dim: 8}"},
      Data::optional);
  const tree::Tree p = tree::of(init_state(c).params);
  EXPECT_NEAR(deviation(p["embedder/embedding"]), 0.02, 2e-3);
  EXPECT_NEAR(deviation(p["layers/experts/gate/kernel"]), 0.01, 1e-3);
  EXPECT_NEAR(deviation(p["logits/kernel"]), 0.005, 5e-4);
}

TEST_F(TransferTest, SaysWhatItRefuses) {
  EXPECT_THROW(config(2, 2, {kBase, "optimizer.stored_as=[{match: '*', factor: 2.0}]"}),
               ConfigError);
  EXPECT_THROW(config(2, 2, {"optimizer.transfer={}"}), ConfigError);
  EXPECT_THROW(config(2, 2, {"optimizer.transfer={width: 3}"}), ConfigError);
  EXPECT_THROW(config(2, 2, {"optimizer.transfer={base_emb_dim: 0}"}), ConfigError);
  EXPECT_THROW(config(2, 2, {kBase, "opt_type=muon"}), ConfigError);
  EXPECT_THROW(config(2, 2, {kBase, "opt_type=sgd"}), ConfigError);
  const Config tied = read_config(
      {},
      {"decoder_block=published",
       R"(config={"model_type": "llama", "vocab_size": 64, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2, "tie_word_embeddings": true})",
       "optimizer.transfer={base_emb_dim: 8}"},
      Data::optional);
  EXPECT_THAT(refusal(tied), HasSubstr("tie_word_embeddings"));
}

}  // namespace
}  // namespace strata::train
