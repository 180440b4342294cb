// What is read of configurations and directories, and what is refused, by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/base/file.h"
#include "strata/checkpoint/arrays.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/decoder/model.h"
#include "strata/model/decoder/rotary.h"
#include "strata/model/decoder/weights.h"
#include "strata/model/pretrained.h"
#include "strata/model/published/family.h"

namespace strata::model {
namespace {

namespace fs = std::filesystem;
using decoder::Options;
using published::Config;
using testing::HasSubstr;

const std::string kData =
    (std::filesystem::path(__FILE__).parent_path().parent_path() / "testdata/published/").string();

Options options_of(const std::string& json) {
  const Config c = Config::parse(json);
  return published::family(c.text("model_type")).options(c);
}

/// The message of the Error that f throws; empty where it throws none.
template <class F>
std::string message(F f) {
  try {
    (void)f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

constexpr const char* kLlama = R"({"model_type": "llama", "vocab_size": 32, "hidden_size": 16,
  "intermediate_size": 24, "num_hidden_layers": 4, "num_attention_heads": 4,
  "max_position_embeddings": 64, MORE "initializer_range": 0.02})";
std::string with(std::string more, std::string type = "llama") {
  std::string out = kLlama;
  out.replace(out.find("MORE"), 4, more);
  out.replace(out.find("llama"), 5, type);
  return out;
}

// -- config.json ---------------------------------------------------------------------------------

TEST(ConfigTest, OldSpellingsOfRotaryPositionsAreRead) {
  const auto same = [](const decoder::Rope& a, const decoder::Rope& b) {
    return a.type == b.type &&
           decoder::frequencies(a, 40).values == decoder::frequencies(b, 40).values;
  };
  const Options old =
      options_of(with(R"("rope_theta": 5e5, "rope_scaling": {"type": "linear", "factor": 3},)"));
  const Options now = options_of(
      with(R"("rope_parameters": {"rope_type": "linear", "factor": 3, "rope_theta": 5e5},)"));
  EXPECT_TRUE(same(old.ropes[0], now.ropes[0]));
  EXPECT_EQ(now.ropes[0].type, decoder::Rope::Type::linear);
  // Inside wins over the top, the top over the family's default.
  EXPECT_EQ(
      options_of(with(R"("rope_theta": 7, "rope_parameters": {"rope_theta": 9},)")).ropes[0].theta,
      9);
  EXPECT_EQ(options_of(with(R"("rope_theta": 7, "rope_parameters": {"rope_type": "default"},)"))
                .ropes[0]
                .theta,
            7);
  EXPECT_EQ(options_of(with("", "smollm3")).ropes[0].theta, 2e6);
  const Options phi = options_of(with(
      R"("original_max_position_embeddings": 16, "partial_rotary_factor": 0.5, "hidden_act": "silu",
         "rope_scaling": {"type": "su", "short_factor": [1], "long_factor": [2]},)",
      "phi3"));
  EXPECT_EQ(phi.ropes[0].type, decoder::Rope::Type::longrope);
  EXPECT_EQ(phi.ropes[0].width, 2);
  EXPECT_EQ(phi.ropes[0].factor, 4);
}

TEST(ConfigTest, DefaultsAreTheFamilys) {
  const Options llama = options_of(with(""));
  EXPECT_EQ(llama.kv_heads, 4);
  EXPECT_EQ(llama.head_dim, 4);
  EXPECT_FALSE(llama.tied);
  EXPECT_TRUE(llama.windows.empty());
  const Options smollm = options_of(with("", "smollm3"));
  EXPECT_TRUE(smollm.tied);
  EXPECT_EQ(smollm.rope_of_layer, (std::vector<int>{0, 0, 0, -1}));
  EXPECT_EQ(options_of(with("", "mistral")).windows, std::vector<std::int64_t>(4, 4096));
  EXPECT_TRUE(options_of(with(R"("sliding_window": null,)", "mistral")).windows.empty());
  const Options qwen = options_of(
      with(R"("use_sliding_window": true, "sliding_window": 8, "max_window_layers": 2,)", "qwen2"));
  EXPECT_EQ(qwen.windows, (std::vector<std::int64_t>{0, 0, 8, 8}));
  EXPECT_TRUE(qwen.qkv_bias);
  EXPECT_FALSE(qwen.out_bias);
  EXPECT_EQ(options_of(with("", "qwen3")).head_dim, 128);
  const Options gemma = options_of(with(R"("hidden_act": "gelu",)", "gemma"));
  EXPECT_EQ(gemma.activation, decoder::Activation::gelu_tanh);
  EXPECT_EQ(gemma.head_dim, 256);
  EXPECT_EQ(gemma.embedding_scale, 4);
  const Options gemma2 = options_of(with("", "gemma2"));
  EXPECT_EQ(gemma2.attention_cap, 50);
  EXPECT_EQ(gemma2.logit_cap, 30);
  EXPECT_EQ(gemma2.windows, (std::vector<std::int64_t>{4096, 0, 4096, 0}));
  EXPECT_EQ(options_of(with(R"("final_logit_softcapping": null,)", "gemma2")).logit_cap, 0);
  const Options gemma3 = options_of(with(R"("sliding_window_pattern": 3, "rope_theta": 1e6,
      "rope_scaling": {"rope_type": "linear", "factor": 8},)",
                                         "gemma3_text"));
  EXPECT_EQ(gemma3.rope_of_layer, (std::vector<int>{1, 1, 0, 1}));
  EXPECT_EQ(gemma3.ropes[0].factor, 8);
  EXPECT_EQ(gemma3.ropes[1].theta, 1e4);
  EXPECT_EQ(gemma3.ropes[1].type, decoder::Rope::Type::plain);
  // As Google's files state it: heads of layers without a window by keys of their own.
  const Options gemma4 = options_of(R"({"model_type": "gemma4_text", "hidden_size": 2816,
      "intermediate_size": 2112, "num_attention_heads": 16, "num_key_value_heads": 8,
      "num_global_key_value_heads": 2, "attention_k_eq_v": true, "enable_moe_block": true,
      "num_experts": 128, "top_k_experts": 8, "moe_intermediate_size": 704,
      "hidden_size_per_layer_input": 0})");
  EXPECT_EQ(gemma4.full.layers, (std::vector<std::int64_t>{5, 11, 17, 23, 29}));
  EXPECT_EQ(gemma4.full.head_dim, 512);
  EXPECT_EQ(gemma4.full.kv_heads, 2);
  EXPECT_EQ(gemma4.ropes[1].proportion, 0.25);
  EXPECT_EQ(gemma4.ropes[1].width, 512);
  EXPECT_EQ(gemma4.experts.count, 128);
  // E2B; which heads a layer has is stated layer by layer, by numbers of equal width.
  const Options small = options_of(R"({"model_type": "gemma4_text", "hidden_size": 1536,
      "intermediate_size": 6144, "num_key_value_heads": 1, "num_hidden_layers": 12,
      "num_kv_shared_layers": 6, "use_double_wide_mlp": true,
      "per_layer_config": {"05": {"head_dim": 128}, "11": {"head_dim": 128}}})");
  EXPECT_EQ(small.full.layers, (std::vector<std::int64_t>{5, 11}));
  EXPECT_EQ(small.full.head_dim, 128);
  EXPECT_EQ(small.per_layer_input.width, 256);
  EXPECT_EQ(small.per_layer_input.vocab_size, 262144);
  EXPECT_EQ(small.shared_kv.layers, 6);
  EXPECT_EQ(small.shared_kv.mlp_width, 12288);
  EXPECT_EQ(options_of(with("", "phi3")).epsilon, 1e-5);
  EXPECT_EQ(options_of(with("", "olmo2")).epsilon, 1e-5);
}

TEST(ConfigTest, WhatIsNotKnownIsRefusedByName) {
  const auto refused = [](const std::string& json) {
    return message([&] { return options_of(json); });
  };
  EXPECT_THAT(refused(with("", "lama")), HasSubstr("did you mean 'llama'"));
  EXPECT_THAT(refused(with("", "mamba")), HasSubstr("model_type mamba"));
  EXPECT_THAT(refused(with(R"("rope_scaling": {"rope_type": "ntk", "factor": 2},)")),
              HasSubstr("rope_type=ntk"));
  const std::string gemma4 = R"({"model_type": "gemma4_text", "hidden_size_per_layer_input": )";
  const auto wrong = [](const std::string& json) {
    return message([&] { decoder::check(options_of(json)); });
  };
  EXPECT_THAT(wrong(gemma4 + R"(256, "vocab_size_per_layer_input": 99})"),
              HasSubstr("vocab_size_per_layer_input=99: allowed is an integer from 262144"));
  EXPECT_THAT(wrong(gemma4 + R"(0, "num_kv_shared_layers": 30})"),
              HasSubstr("num_kv_shared_layers=30: allowed is an integer from 1 to 29"));
  EXPECT_THAT(wrong(gemma4 + R"(0, "num_kv_shared_layers": 25})"),
              HasSubstr("of the 5 layers ahead of them 0 are of full attention"));
  EXPECT_THAT(refused(gemma4 + R"(0, "per_layer_config": {"3": {"head_dim": 64}}})"),
              HasSubstr("per_layer_config of layer 3"));
  EXPECT_THAT(refused(with(R"("rope_scaling": {"rope_type": "linear"},)")), HasSubstr("no factor"));
  EXPECT_THAT(refused(with(R"("rope_scaling": 3,)")), HasSubstr("rope_scaling=3"));
  EXPECT_THAT(refused(with(R"("hidden_act": "mish",)")), HasSubstr("mish"));
  EXPECT_THAT(refused(with(R"("layer_types": ["full_attention"],)", "gemma2")),
              HasSubstr("layer_types has 1 entries for num_hidden_layers=4"));
  EXPECT_THAT(refused(with(R"("layer_types": ["a", "a", "a", "a"],)", "gemma2")),
              HasSubstr("layer_types has a"));
  EXPECT_THAT(refused(with(R"("tie_word_embeddings": 1,)")), HasSubstr("tie_word_embeddings=1"));
  EXPECT_THAT(refused(R"({"model_type": "llama"})"), HasSubstr("vocab_size is missing"));
  EXPECT_THAT(refused(with(R"("head_dim": 4.5,)")), HasSubstr("head_dim=4.5"));
  EXPECT_THAT(refused(with(R"("position_embedding_type": "relative_key",)", "bert")),
              HasSubstr("relative_key"));
  EXPECT_THAT(refused(with(R"("vocab_size": 4,)")), HasSubstr("vocab_size stands there twice"));
  EXPECT_THAT(refused(with(R"("n": {"a": 1}, "m": [{"a": 1}, {"a": 2}],)")), "");
  EXPECT_THAT(refused(with(R"("head_dim": 1e300,)")), HasSubstr("at most 53 bits"));
  EXPECT_THAT(refused(with("").replace(with("").find(": 4"), 3, ": 99999")),
              HasSubstr("num_hidden_layers=99999"));
  EXPECT_THAT(refused("[1]"), HasSubstr("no JSON object"));
  EXPECT_THAT(refused("{" + std::string(200, ' ') + std::string(100, '[')), HasSubstr("JSON"));
  EXPECT_THAT(refused(R"({"a": )" + std::string(100, '[') + std::string(100, ']') + "}"),
              HasSubstr("nested deeper"));
  const auto contradicts = [](const std::string& json) {
    return message([&] { decoder::check(options_of(json)); });
  };
  EXPECT_EQ(contradicts(with("")), "");
  EXPECT_THAT(contradicts(with(R"("num_key_value_heads": 3,)")), HasSubstr("does not divide"));
  EXPECT_THAT(contradicts(with(R"("head_dim": 5,)")), HasSubstr("heads of 5"));
  EXPECT_THAT(contradicts(with(R"("rms_norm_eps": 0,)")), HasSubstr("epsilon"));
  EXPECT_THAT(contradicts(with(R"("rope_scaling": {"type": "longrope", "short_factor": [1],
      "long_factor": [1, 2], "factor": 2},)")),
              HasSubstr("short_factor of 1"));
}

TEST(RotaryTest, FrequenciesAreTheWorkedOnes) {
  using decoder::Rope;
  // Values that upstream gives: models and tokenizers' worked examples.
  const Rope llama3{
      .type = Rope::Type::llama3, .theta = 5e5, .width = 128, .factor = 8, .original_length = 8192};
  const auto f = decoder::frequencies(llama3, 0).values;
  EXPECT_NEAR(f[28] / 0.00321145, 1, 3e-6);
  EXPECT_NEAR(f[29] / 0.00216657, 1, 3e-6);
  EXPECT_NEAR(f[32] / 5.24846e-4, 1, 3e-6);
  EXPECT_NEAR(f[35] / 9.55621e-5, 1, 3e-6);
  const Options oss = options_of(with(
      R"("head_dim": 64, "rope_theta": 150000, "rope_scaling": {"rope_type": "yarn", "factor": 32,
         "original_max_position_embeddings": 4096, "truncate": false},)"));
  const auto yarn = decoder::frequencies(oss.ropes[0], 0);
  EXPECT_NEAR(yarn.factor, 1.346574, 1e-6);
  EXPECT_NEAR(yarn.values[8] / 0.0508133, 1, 3e-6);
  EXPECT_NEAR(yarn.values[9] / 0.0317057, 1, 3e-6);
  EXPECT_NEAR(yarn.values[17] / 1.29319e-4, 1, 4e-6);
  EXPECT_NEAR(yarn.values[18] / 3.83088e-5, 1, 4e-6);
  std::string long_phi = with(
      R"("original_max_position_embeddings": 4096,
         "rope_scaling": {"type": "longrope", "short_factor": [1, 1], "long_factor": [2, 2]},)",
      "phi3");
  const std::string length = "\"max_position_embeddings\": 64";
  long_phi.replace(long_phi.find(length), length.size(), "\"max_position_embeddings\": 131072");
  const Options phi = options_of(long_phi);
  EXPECT_NEAR(phi.ropes[0].attention_factor, 1.190238, 1e-6);
}

TEST(RotaryTest, PairsOfNeighboursArePairsOfHalvesInAnotherOrder) {
  compile::register_cpu();
  const decoder::Rope rope{.width = 6};
  const Array x = random::normal(random::key(1), {1, 5, 2, 8});
  const auto table = decoder::rotary_table(rope, expand_dims(arange(5), 0), 5);
  // Element 2 j + b of neighbours is element j + 3 b of halves; the last two are not turned.
  const Array order =
      Array(Literal::of(Shape({8}), std::vector<std::int32_t>{0, 3, 1, 4, 2, 5, 6, 7}));
  const Array neighbours = decoder::rotate(take(x, order, -1), table, decoder::Pairing::neighbours);
  const Array halves = decoder::rotate(x, table, decoder::Pairing::halves);
  EXPECT_EQ(neighbours.to_vector<float>(), take(halves, order, -1).to_vector<float>());
  EXPECT_NE(halves.to_vector<float>(), x.to_vector<float>());
}

// -- directories ---------------------------------------------------------------------------------

class DirectoryTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  void SetUp() override {
    folder_ = testing::TempDir() + "published_directory";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  /// A copy of the model llama with other tensors and another configuration.
  void write(const std::function<void(std::map<std::string, Array>&)>& change,
             const std::function<void(std::string&)>& config = {}) {
    auto tensors = checkpoint::load_file(kData + "llama/model.safetensors").value();
    change(tensors);
    ASSERT_TRUE(checkpoint::save_file(tensors, folder_ + "/model.safetensors").ok());
    std::string text = read_file(kData + "llama/config.json").value();
    if (config) config(text);
    put("config.json", text);
  }
  void put(const std::string& file, const std::string& text) {
    fs::create_directories(fs::path(folder_ + "/" + file).parent_path());
    std::ofstream(folder_ + "/" + file) << text;
  }
  Status status(const std::string& folder) { return load(folder).status(); }
  Status status() { return status(folder_); }
  std::string folder_;
};

TEST_F(DirectoryTest, TensorsThatAreNotTheModelsAreListed) {
  write([](auto& t) {
    t.erase("model.layers.1.mlp.up_proj.weight");
    t["model.norm.weight"] = zeros({17});
    t["model.extra"] = zeros({2, 3});
  });
  EXPECT_EQ(status().code(), Code::invalid);
  EXPECT_THAT(status().message(), HasSubstr("missing: model.layers.1.mlp.up_proj.weight [24, 16]"));
  EXPECT_THAT(status().message(), HasSubstr("model.norm.weight is [17] and should be [16]"));
  EXPECT_THAT(status().message(), HasSubstr("of no weight: model.extra [2, 3]"));
}

TEST_F(DirectoryTest, WhatBelongsToNoWeightUpstreamIsLeftOut) {
  write([](auto& t) { t["model.layers.0.self_attn.rotary_emb.inv_freq"] = zeros({3}); });
  EXPECT_TRUE(status().ok()) << status().message();
}

TEST_F(DirectoryTest, TheLanguageModelOfAMultimodalOneIsRead) {
  std::map<std::string, Array> tensors = {{"vision_tower.patch.weight", zeros({3})},
                                          {"multi_modal_projector.weight", zeros({3})}};
  for (const auto& [name, t] : checkpoint::load_file(kData + "gemma3/model.safetensors").value())
    tensors["language_model." + name] = t;
  ASSERT_TRUE(checkpoint::save_file(tensors, folder_ + "/model.safetensors").ok());
  put("config.json", R"({"model_type": "gemma3", "vision_config": {}, "text_config": )" +
                         read_file(kData + "gemma3/config.json").value() + "}");
  EXPECT_TRUE(tree::equal(load(folder_).value().params, load(kData + "gemma3").value().params));
  const Options few = options_of(R"({"model_type": "gemma3_text", "hidden_size": 2560,
    "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024})");
  EXPECT_EQ(few.query_heads, 8);
  EXPECT_EQ(few.kv_heads, 4);
  EXPECT_EQ(few.vocab_size, 262208);
  EXPECT_EQ(few.width, 2560);
}

TEST_F(DirectoryTest, TheLanguageModelOfGemma4IsReadAsItStandsInAMultimodalOne) {
  std::map<std::string, Array> tensors = {{"model.vision_tower.patch.weight", zeros({3})},
                                          {"model.embed_vision.projection.weight", zeros({3})},
                                          {"model.audio_tower.layers.0.norm.weight", zeros({3})}};
  for (const auto& [name, t] : checkpoint::load_file(kData + "gemma4/model.safetensors").value())
    tensors["model.language_model." + name.substr(6)] = t;
  ASSERT_TRUE(checkpoint::save_file(tensors, folder_ + "/model.safetensors").ok());
  put("config.json", R"({"model_type": "gemma4", "vision_config": {}, "text_config": )" +
                         read_file(kData + "gemma4/config.json").value() + "}");
  EXPECT_TRUE(tree::equal(load(folder_).value().params, load(kData + "gemma4").value().params));
}

TEST_F(DirectoryTest, IntegersAreNoWeights) {
  write([](auto& t) { t["model.norm.weight"] = zeros({16}, DType::i32); });
  EXPECT_EQ(status().code(), Code::unsupported);
  EXPECT_THAT(status().message(), HasSubstr("'model.norm.weight' is i32"));
}

TEST_F(DirectoryTest, QuantisedModelsAreRefused) {
  write([](auto&) {},
        [](std::string& c) {
          c.insert(c.find('{') + 1, R"("quantization_config": {"quant_method": "awq"},)");
        });
  EXPECT_EQ(status().code(), Code::unsupported);
  EXPECT_THAT(status().message(), HasSubstr("awq"));
}

TEST_F(DirectoryTest, PicklesAreRefusedWithTheReason) {
  put("config.json", read_file(kData + "llama/config.json").value());
  EXPECT_EQ(status().code(), Code::not_found);
  put("pytorch_model.bin", "x");
  EXPECT_EQ(status().code(), Code::unsupported);
  EXPECT_THAT(status().message(), HasSubstr("pickles"));
}

TEST_F(DirectoryTest, ShardsGiveTheModelOfOneFile) {
  const auto tensors = checkpoint::load_file(kData + "llama/model.safetensors").value();
  std::map<std::string, Array> parts[2];
  std::string index;
  std::size_t i = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::size_t which = i++ % 2;
    parts[which][name] = tensor;
    index += (index.empty() ? "" : ",") +
             ("\"" + name + "\": \"model-" + std::to_string(which) + ".safetensors\"");
  }
  for (int p = 0; p < 2; ++p)
    ASSERT_TRUE(
        checkpoint::save_file(parts[p], folder_ + "/model-" + std::to_string(p) + ".safetensors")
            .ok());
  put("config.json", read_file(kData + "llama/config.json").value());
  const std::string file = R"({"metadata": {"total_size": 1}, "weight_map": {)" + index + "}}";
  put("model.safetensors.index.json", file);
  EXPECT_TRUE(tree::equal(load(folder_).value().params, load(kData + "llama").value().params));

  const auto damaged = [&](const std::string& from, const std::string& to) {
    std::string text = file;
    text.replace(text.find(from), from.size(), to);
    put("model.safetensors.index.json", text);
    return status();
  };
  EXPECT_EQ(damaged("model-0.safetensors", "../model-0.safetensors").code(), Code::corrupt);
  EXPECT_EQ(damaged("model-0.safetensors", "model-7.safetensors").code(), Code::not_found);
  EXPECT_THAT(damaged("model-0.safetensors", "model-1.safetensors").message(),
              HasSubstr("is not in"));
  EXPECT_EQ(damaged("\"weight_map\"", "\"weights\"").code(), Code::corrupt);
  EXPECT_EQ(damaged("}}", "").code(), Code::corrupt);
}

TEST_F(DirectoryTest, ACachesFolderIsReadByItsReference) {
  const std::string root = folder_ + "/models--some--llama";
  fs::create_directories(root + "/snapshots/abc");
  fs::create_directories(root + "/blobs");
  put("models--some--llama/refs/main", "abc\n");
  fs::copy_file(kData + "llama/model.safetensors", root + "/blobs/1");
  fs::copy_file(kData + "llama/config.json", root + "/snapshots/abc/config.json");
  fs::create_symlink("../../blobs/1", root + "/snapshots/abc/model.safetensors");
  EXPECT_TRUE(load(root).ok()) << load(root).status().message();
  put("models--some--llama/refs/main", "../../x");
  EXPECT_EQ(load(root).status().code(), Code::corrupt);
  put("models--some--llama/refs/main", "def");
  EXPECT_EQ(load(root).status().code(), Code::not_found);
}

TEST_F(DirectoryTest, LinksOutOfTheFolderAreRefused) {
  put("config.json", read_file(kData + "llama/config.json").value());
  fs::create_symlink(fs::absolute(kData + "llama/model.safetensors"),
                     folder_ + "/model.safetensors");
  EXPECT_EQ(status().code(), Code::denied);
}

TEST_F(DirectoryTest, DamagedFilesAreRefused) {
  write([](auto&) {});
  const std::string whole = read_file(folder_ + "/model.safetensors").value();
  for (std::size_t length : {std::size_t{0}, std::size_t{7}, std::size_t{100}, whole.size() - 1}) {
    put("model.safetensors", whole.substr(0, length));
    EXPECT_EQ(status().code(), Code::corrupt) << length;
  }
  put("model.safetensors", whole);
  put("config.json", "{");
  EXPECT_EQ(status().code(), Code::invalid);
}

TEST_F(DirectoryTest, WeightsAreKeptInTheDtypeThatIsAsked) {
  const Pretrained p =
      load(kData + "llama", {.dtype = DType::bf16, .weights = DType::bf16}).value();
  for (const Array& leaf : p.params.values()) EXPECT_EQ(leaf.dtype(), DType::bf16);
  const Array logits = p.model->forward(p.params, zeros({1, 3}, DType::i32));
  EXPECT_EQ(logits.dtype(), DType::bf16);
}

TEST_F(DirectoryTest, ADecoderIsNoEncoder) {
  EXPECT_EQ(load_encoder(kData + "llama").status().code(), Code::unsupported);
  EXPECT_EQ(load(kData + "bert").status().code(), Code::unsupported);
}

TEST_F(DirectoryTest, PoolingIsReadFromItsFolder) {
  fs::copy_file(kData + "bert/model.safetensors", folder_ + "/model.safetensors");
  fs::copy_file(kData + "bert/config.json", folder_ + "/config.json");
  put("modules.json", R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
    {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])");
  put("1_Pooling/config.json",
      R"({"pooling_mode_cls_token": true, "pooling_mode_max_tokens": true})");
  put("sentence_bert_config.json", R"({"max_seq_length": 9})");
  const Pooling p = load_encoder(folder_).value().pooling;
  EXPECT_EQ(p.modes, (std::vector{Pooling::Mode::first, Pooling::Mode::most}));
  EXPECT_TRUE(p.normalize);
  EXPECT_EQ(p.most_tokens, 9);
  put("1_Pooling/config.json", "{}");
  EXPECT_EQ(load_encoder(folder_).status().code(), Code::unsupported);
  put("modules.json", R"([{"path": "x", "type": "sentence_transformers.models.Dense"}])");
  EXPECT_THAT(load_encoder(folder_).status().message(), HasSubstr("Dense"));
  put("modules.json", R"([{"path": "../x", "type": "Pooling"}])");
  EXPECT_EQ(load_encoder(folder_).status().code(), Code::corrupt);
}

TEST(PoolingTest, EachModeIsItsFormula) {
  compile::register_cpu();
  const Array h = reshape(
      Array(Literal::of(Shape({8}), std::vector<float>{1, -2, 3, 4, 100, 100, -5, 1})), {2, 2, 2});
  const Array mask = Array(Literal::of(Shape({2, 2}), std::vector<std::int32_t>{1, 1, 1, 0}));
  using enum Pooling::Mode;
  const auto of = [&](Pooling::Mode mode) {
    return pooled(h, mask, {.modes = {mode}}).to_vector<float>();
  };
  EXPECT_THAT(of(first), testing::ElementsAre(1, -2, 100, 100));
  EXPECT_THAT(of(mean), testing::ElementsAre(2, 1, 100, 100));
  EXPECT_THAT(of(most), testing::ElementsAre(3, 4, 100, 100));
  EXPECT_THAT(of(last), testing::ElementsAre(3, 4, 100, 100));
  EXPECT_THAT(of(weighted_mean),
              testing::Pointwise(testing::FloatEq(), std::vector<float>{7.0f / 3, 2, 100, 100}));
  EXPECT_THAT(
      of(mean_by_root),
      testing::Pointwise(testing::FloatEq(),
                         std::vector<float>{4 / std::sqrt(2.0f), 2 / std::sqrt(2.0f), 100, 100}));
  const auto unit = pooled(h, mask, {.modes = {mean}, .normalize = true}).to_vector<float>();
  EXPECT_NEAR(unit[0], 2 / std::sqrt(5.0f), 1e-6);
}

}  // namespace
}  // namespace strata::model
