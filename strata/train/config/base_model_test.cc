// What `init` amounts to: the model as published, keys that contradict it, checkpoints that stand
// on it.
#include "strata/train/config/base_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "strata/base/file.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/train/state.h"

namespace strata::train {
namespace {

using testing::HasSubstr;
using Keys = std::vector<std::string>;

const std::string kModel =
    (std::filesystem::path(__FILE__).parent_path().parent_path() / "testdata/tuning").string();

Config tuning(Keys more = {}) {
  Keys keys = {"init=" + kModel, "train_files=" + kModel + "/chats.jsonl", "steps=2",
               "max_target_length=16", "per_device_batch_size=2"};
  keys.insert(keys.end(), more.begin(), more.end());
  return read_config({}, keys, Data::optional);
}
std::string message_of(const Keys& more) {
  try {
    auto base = open_base(tuning(more));
    return base ? "no message" : base.status().message();
  } catch (const ConfigError& e) {
    return e.what();
  }
}

TEST(Base, IsTheModelAsPublished) {
  compile::register_cpu();
  auto base = open_base(tuning());
  ASSERT_TRUE(base) << base.status().message();
  EXPECT_EQ(base->model->family(), "llama");
  EXPECT_EQ(base->model->vocab_size(), 320);
  EXPECT_TRUE(base->chat_template.has_value());
  EXPECT_EQ(base->tokenizer->vocab_size(), 320);
  EXPECT_FALSE(base->frozen.has_value());
  ASSERT_TRUE(base->weights.has_value());
  for (const Array& w : base->weights->values()) EXPECT_EQ(w.dtype(), DType::f32);
  auto narrow = open_base(tuning({"weight_dtype=bfloat16", "dtype=bfloat16"}));
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->model->dtype(), DType::bf16);
  for (const Array& w : narrow->weights->values()) EXPECT_EQ(w.dtype(), DType::bf16);
  EXPECT_NE(narrow->fingerprint, base->fingerprint);
}

TEST(Base, KeysThatContradictThePublishedModelAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"base_emb_dim=64", "has hidden_size = 32"},
      {"base_num_decoder_layers=3", "has num_hidden_layers = 2"},
      {"base_num_query_heads=8", "has num_attention_heads = 4"},
      {"base_num_kv_heads=4", "has num_key_value_heads = 2"},
      {"base_mlp_dim=64", "has intermediate_size = 48"},
      {"head_dim=16", "has head_dim = 8"},
      {"vocab_size=512", "has vocab_size = 320"},
      {"normalization_layer_epsilon=1e-3", "has rms_norm_eps = 1e-06"},
      {"max_target_length=129", "sequences of at most 128"},
      {"tokenizer_path=x.model", "brings its own tokenizer"},
      {"tokenizer_type=sentencepiece", "brings its own tokenizer"},
      {"init=/nowhere/at/all", "/nowhere/at/all"},
  };
  for (const auto& [key, message] : cases)
    EXPECT_THAT(message_of({key}), HasSubstr(message)) << key;
  EXPECT_EQ(message_of({"base_emb_dim=32", "head_dim=8", "vocab_size=320"}), "no message");
}

TEST(Base, ItsConfigurationIsReadBackFromWhatIsPrinted) {
  const Config c = tuning({"dtype=bfloat16", "base_emb_dim=32"});
  const std::string yaml = to_yaml(c);
  EXPECT_THAT(yaml, HasSubstr("base_emb_dim: 32\n"));
  EXPECT_THAT(yaml, testing::Not(HasSubstr("decoder_block")));
  EXPECT_THAT(yaml, testing::Not(HasSubstr("base_mlp_dim")));
  const Config again = parse_config(yaml, "config.yml");
  EXPECT_EQ(to_yaml(again), yaml);
  EXPECT_EQ(to_json(parse_config(to_json(c), "note")), to_json(c));
}

TEST(Base, CheckpointsLeaveOutWhatIsFrozenAndKnowTheirBase) {
  compile::register_cpu();
  const Config c = tuning({"optimizer.groups=[{match: \"*layers*\", frozen: true}]",
                           "train_data_columns=text", "train_files=" + kModel + "/config.json"});
  auto base = open_base(c);
  ASSERT_TRUE(base) << base.status().message();
  const tree::Tree first = *base->weights;
  auto data = open_data(c, *base);
  ASSERT_TRUE(data) << data.status().message();
  const State state = init_state(c, *base);
  const checkpoint::Checkpoint saved = to_checkpoint(state, 1, c, *data, *base);
  EXPECT_GT(saved.parts.at("params").size(), 0u);
  for (const auto& [name, tensor] : saved.parts.at("params"))
    EXPECT_THAT(name, testing::Not(HasSubstr("layers")));
  base->weights = first;
  auto loaded = from_checkpoint(saved, c, *base);
  ASSERT_TRUE(loaded) << loaded.status().message();
  EXPECT_TRUE(tree::equal(loaded->params, state.params));
  base->weights = first;
  base->fingerprint = "1:00000000";
  try {
    (void)from_checkpoint(saved, c, *base);
    ADD_FAILURE() << "another base was taken";
  } catch (const ConfigError& e) {
    EXPECT_THAT(e.what(), HasSubstr("its weights (1:00000000) are not those"));
    EXPECT_THAT(e.what(), HasSubstr(kModel));
  }
}

}  // namespace
}  // namespace strata::train
