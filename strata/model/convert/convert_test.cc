// Tiny models that transformers saved, to GGUF and back: the same tensors, and the same logits from
// either; tokenizers; packed types; what is refused.
#include "strata/model/convert/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "strata/api/numpy.h"
#include "strata/api/transform/jit.h"
#include "strata/base/file.h"
#include "strata/checkpoint/arrays.h"
#include "strata/checkpoint/gguf.h"
#include "strata/checkpoint/safetensors.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/pretrained.h"

namespace strata::model {
namespace {

namespace fs = std::filesystem;
using checkpoint::Gguf;
using nlohmann::ordered_json;
using testing::Contains;
using testing::HasSubstr;

const std::string kData =
    (std::filesystem::path(__FILE__).parent_path().parent_path() / "testdata/published/").string();

class Convert : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  Convert() {
    std::string name = testing::TempDir() + "convert_XXXXXX";
    base_ = ::mkdtemp(name.data());
  }
  ~Convert() override { fs::remove_all(base_); }
  std::string at(const std::string& name) const { return base_ + "/" + name; }

  std::string base_;
};

Conversion done(const std::string& from, const std::string& to, const ConvertOptions& o = {}) {
  auto out = convert(from, to, o);
  EXPECT_TRUE(out.ok()) << out.status().message();
  return out ? *out : Conversion();
}
std::string refused(const std::string& from, const std::string& to, const ConvertOptions& o = {}) {
  try {
    auto out = convert(from, to, o);
    return out ? "no error" : out.status().message();
  } catch (const Error& e) {
    return e.what();
  }
}

std::map<std::string, Literal> tensors_of(const std::string& folder) {
  return checkpoint::read_safetensors(folder + "/model.safetensors").value().tensors;
}

bool same_numbers(const Literal& a, const Literal& b) {
  if (!(a.shape() == b.shape())) return false;
  for (std::int64_t i = 0; i < a.count(); ++i)
    if (a.number(i) != b.number(i)) return false;
  return true;
}

bool same_tensors(const std::string& a, const std::string& b) {
  const auto x = tensors_of(a), y = tensors_of(b);
  if (x.size() != y.size()) return false;
  for (const auto& [name, t] : x)
    if (!y.contains(name) || !same_numbers(t, y.at(name))) return false;
  return true;
}

/// A Llama whose rows are blocks of 32, random weights in f32.
void wide_model(const std::string& folder) {
  const ordered_json config = {{"model_type", "llama"},    {"vocab_size", 40},
                               {"hidden_size", 64},        {"num_hidden_layers", 2},
                               {"num_attention_heads", 4}, {"num_key_value_heads", 2},
                               {"intermediate_size", 96},  {"rms_norm_eps", 1e-5},
                               {"rope_theta", 5e5},        {"max_position_embeddings", 128}};
  checkpoint::TensorFile file;
  std::uint64_t seed = 7;
  auto add = [&](const std::string& name, const std::vector<std::int64_t>& shape) {
    Literal x(Type(DType::f32, Shape::of(shape)));
    for (float& v : x.mutable_span<float>()) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      v = static_cast<float>(static_cast<std::int64_t>(seed >> 40)) * 0x1p-24f - 0.5f;
    }
    file.tensors.emplace(name, std::move(x));
  };
  add("model.embed_tokens.weight", {40, 64});
  add("model.norm.weight", {64});
  add("lm_head.weight", {40, 64});
  for (int i = 0; i < 2; ++i) {
    const std::string layer = fmt::format("model.layers.{}.", i);
    for (const char* norm : {"input_layernorm", "post_attention_layernorm"})
      add(layer + norm + ".weight", {64});
    for (const char* wide : {"self_attn.q_proj", "self_attn.o_proj"})
      add(layer + wide + ".weight", {64, 64});
    for (const char* narrow : {"self_attn.k_proj", "self_attn.v_proj"})
      add(layer + narrow + ".weight", {32, 64});
    for (const char* up : {"mlp.gate_proj", "mlp.up_proj"}) add(layer + up + ".weight", {96, 64});
    add(layer + "mlp.down_proj.weight", {64, 96});
  }
  ASSERT_TRUE(make_folders(folder).ok());
  ASSERT_TRUE(write_file_atomic(folder + "/config.json", config.dump()).ok());
  ASSERT_TRUE(checkpoint::write_safetensors(folder + "/model.safetensors", file).ok());
}

Literal logits(const Pretrained& p, const Array& tokens) {
  return jit([&](const tree::Tree& w, const Array& t) { return p.model->forward(w, t); })(p.params,
                                                                                          tokens)
      .literal();
}

/// A copy of a tiny model with a tokenizer of the bytes a to z and some merges.
void with_tokenizer(const std::string& model, const std::string& folder,
                    const ordered_json& pre_tokenizer) {
  fs::copy(kData + model, folder);
  fs::remove(folder + "/golden.safetensors");
  ordered_json vocab, added = ordered_json::array();
  int id = 0;
  for (char c = 'a'; c <= 'z'; ++c) vocab[std::string(1, c)] = id++;
  vocab["ab"] = id++;
  vocab["abc"] = id++;
  added.push_back({{"id", id}, {"content", "<s>"}, {"special", true}});
  added.push_back({{"id", id + 2}, {"content", "<tool>"}, {"special", false}});
  const ordered_json tokenizer = {
      {"added_tokens", added},
      {"normalizer", nullptr},
      {"pre_tokenizer", pre_tokenizer},
      {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", {"a b", "ab c"}}}}};
  ASSERT_TRUE(write_file_atomic(folder + "/tokenizer.json", tokenizer.dump()).ok());
  ASSERT_TRUE(write_file_atomic(folder + "/tokenizer_config.json",
                                R"({"bos_token": {"content": "<s>"}, "eos_token": "<s>",
                                    "chat_template": "{{ messages }}"})")
                  .ok());
}
const ordered_json kGpt2 = {{"type", "ByteLevel"},
                            {"add_prefix_space", false},
                            {"trim_offsets", true},
                            {"use_regex", true}};

class Families : public Convert, public testing::WithParamInterface<const char*> {};

TEST_P(Families, GgufHoldsTheSameModel) {
  const std::string folder = kData + GetParam();
  const Conversion there = done(folder, at("m.gguf"));
  EXPECT_EQ(there.tensors.size(), Gguf::open(at("m.gguf"))->tensors().size());
  const Pretrained a = load(folder).value(), b = load(at("m.gguf")).value();
  const Array tokens = checkpoint::load_file(folder + "/golden.safetensors")->at("tokens");
  EXPECT_TRUE(logits(a, tokens).same_bits(logits(b, tokens)));
  done(at("m.gguf"), at("back"));
  EXPECT_TRUE(logits(a, tokens).same_bits(logits(load(at("back")).value(), tokens)));
  // GPT-2's names have a prefix that not all files have.
  if (GetParam() != std::string("gpt2")) EXPECT_TRUE(same_tensors(folder, at("back")));
}
INSTANTIATE_TEST_SUITE_P(Convert, Families,
                         testing::Values("llama", "llama_biased_tied", "llama_linear", "llama_yarn",
                                         "mistral", "mistral_full", "olmo2", "phi3", "phi3_partial",
                                         "phi3_longrope_long", "phi3_longrope_short", "qwen2",
                                         "qwen2_sliding", "qwen3", "qwen3_biased", "smollm3",
                                         "gpt2"));

TEST_F(Convert, NormsThatGgufStoresOneHigher) {
  done(kData + "gemma", at("m.gguf"));
  const auto file = Gguf::open(at("m.gguf"));
  const Literal ours = *file->numbers_of(*file->tensor("output_norm.weight"));
  const Literal theirs = tensors_of(kData + "gemma").at("model.norm.weight");
  for (std::int64_t i = 0; i < ours.count(); ++i)
    EXPECT_EQ(static_cast<float>(ours.number(i)), 1 + static_cast<float>(theirs.number(i)));
  const Array tokens = checkpoint::load_file(kData + "gemma/golden.safetensors")->at("tokens");
  const Literal x = logits(load(kData + "gemma").value(), tokens),
                y = logits(load(at("m.gguf")).value(), tokens);
  for (std::int64_t i = 0; i < x.count(); ++i) ASSERT_NEAR(x.number(i), y.number(i), 1e-5);
}

TEST_F(Convert, WhatGgufCannotSayIsRefused) {
  EXPECT_THAT(refused(kData + "smollm3_sliding", at("m.gguf")),
              HasSubstr("architecture smollm3 cannot say what this config.json says: rotary"));
  EXPECT_THAT(refused(kData + "llama_dynamic", at("m.gguf")), HasSubstr("rope_type"));
}

TEST_F(Convert, RowsOfQueriesChangeTheirOrder) {
  done(kData + "llama", at("m.gguf"));
  const ordered_json config = ordered_json::parse(*read_file(kData + "llama/config.json"));
  const auto file = Gguf::open(at("m.gguf"));
  for (const auto& [gguf, name, key] :
       {std::tuple{"blk.1.attn_q.weight", "model.layers.1.self_attn.q_proj.weight",
                   "num_attention_heads"},
        {"blk.1.attn_k.weight", "model.layers.1.self_attn.k_proj.weight", "num_key_value_heads"}}) {
    const Literal ours = file->bytes_of(*file->tensor(gguf)),
                  theirs = tensors_of(kData + "llama").at(name);
    ASSERT_EQ(ours.type().to_string(), theirs.type().to_string());
    const std::int64_t width = ours.shape()[1],
                       head = ours.shape()[0] / config.at(key).get<std::int64_t>();
    const std::size_t row = ours.bytes() / static_cast<std::size_t>(ours.shape()[0]);
    for (std::int64_t i = 0; i < ours.shape()[0]; ++i) {
      // Row j of half b of a head is row 2 j + b.
      const std::int64_t j = i % head % (head / 2), b = i % head / (head / 2);
      EXPECT_EQ(std::memcmp(ours.element((i - i % head + 2 * j + b) * width),
                            theirs.element(i * width), row),
                0)
          << gguf << " row " << i;
    }
  }
}

TEST_F(Convert, TokenizersGoBothWays) {
  with_tokenizer("llama", at("hf"),
                 {{"type", "Sequence"},
                  {"pretokenizers", {{{"type", "Digits"}, {"individual_digits", true}}, kGpt2}}});
  EXPECT_TRUE(done(at("hf"), at("m.gguf")).notes.empty());
  const auto file = Gguf::open(at("m.gguf"));
  EXPECT_EQ(*file->text("tokenizer.ggml.model"), "gpt2");
  EXPECT_EQ(*file->text("tokenizer.ggml.pre"), "smollm");
  EXPECT_EQ(*file->text("tokenizer.chat_template"), "{{ messages }}");
  EXPECT_EQ(*file->integer("tokenizer.ggml.bos_token_id"), 28);
  EXPECT_EQ(std::get<std::vector<std::string>>(
                *checkpoint::find(file->metadata(), "tokenizer.ggml.merges")),
            (std::vector<std::string>{"a b", "ab c"}));
  const auto tokens = std::get<std::vector<std::string>>(
      *checkpoint::find(file->metadata(), "tokenizer.ggml.tokens"));
  ASSERT_EQ(tokens.size(), 31u);
  EXPECT_EQ(tokens[27], "abc");
  EXPECT_EQ(tokens[29], "[PAD29]");
  EXPECT_EQ(tokens[30], "<tool>");
  const auto types = std::get<std::vector<std::int32_t>>(
      *checkpoint::find(file->metadata(), "tokenizer.ggml.token_type"));
  EXPECT_EQ(std::vector<std::int32_t>(types.end() - 4, types.end()),
            (std::vector<std::int32_t>{1, 3, 5, 4}));
  done(at("m.gguf"), at("back"));
  const auto before = nlohmann::json::parse(*read_file(at("hf/tokenizer.json"))),
             after = nlohmann::json::parse(*read_file(at("back/tokenizer.json")));
  EXPECT_EQ(before["model"]["vocab"].size() + 2, after["model"]["vocab"].size());
  EXPECT_EQ(before["pre_tokenizer"], after["pre_tokenizer"]);
  EXPECT_EQ(after["added_tokens"][1]["content"], "<tool>");
  EXPECT_EQ(after["model"]["merges"][1], nlohmann::json({"ab", "c"}));
}

TEST_F(Convert, PackedTypesAndTheWayBack) {
  wide_model(at("wide"));
  for (const char* type : {"Q8_0", "Q4_0", "Q4_1", "F16", "BF16"}) {
    const std::string name = type, file = at(name + ".gguf");
    const Conversion to = done(at("wide"), file, {.type = type});
    const auto packed = Gguf::open(file);
    EXPECT_EQ(packed->tensor("blk.0.ffn_up.weight")->type.name(), name);
    EXPECT_EQ(packed->tensor("blk.0.attn_norm.weight")->type.name(), "F32");
    // The directory's numbers give the same blocks, the same keys and the same file.
    done(file, at(name));
    EXPECT_EQ(tensors_of(at(name)).at("model.layers.0.mlp.up_proj.weight").dtype(),
              name == "F16"    ? DType::f16
              : name == "BF16" ? DType::bf16
                               : DType::f32);
    done(at(name), at(name + ".again.gguf"));
    EXPECT_EQ(*read_file(file), *read_file(at(name + ".again.gguf"))) << name;
  }
}

TEST_F(Convert, RowsThatAreNoWholeBlocks) {
  wide_model(at("wide"));
  const Conversion c = done(at("wide"), at("m.gguf"), {.type = "Q4_K"});
  EXPECT_EQ(Gguf::open(at("m.gguf"))->tensor("blk.0.attn_q.weight")->type.name(), "Q8_0");
  EXPECT_THAT(c.notes, Contains(HasSubstr("tensor blk.0.attn_q.weight becomes Q8_0: its rows of")));
}

TEST_F(Convert, SeveralFilesWithAnIndex) {
  wide_model(at("wide"));
  done(at("wide"), at("m.gguf"));
  const Conversion c = done(at("m.gguf"), at("hf"), {.shard_bytes = 20000});
  EXPECT_THAT(c.files, Contains("model.safetensors.index.json"));
  EXPECT_GT(c.files.size(), 5u);
  done(at("hf"), at("again.gguf"));
  EXPECT_EQ(*read_file(at("m.gguf")), *read_file(at("again.gguf")));
}

TEST_F(Convert, StretchedRotaryPositionsAreATensor) {
  done(kData + "llama_llama3", at("m.gguf"));
  const auto file = Gguf::open(at("m.gguf"));
  ASSERT_NE(file->tensor("rope_freqs.weight"), nullptr);
  const Pretrained a = load(kData + "llama_llama3").value(), b = load(at("m.gguf")).value();
  const auto golden = checkpoint::load_file(kData + "llama_llama3/golden.safetensors").value();
  const auto x = logits(a, golden.at("tokens")), y = logits(b, golden.at("tokens"));
  for (std::int64_t i = 0; i < x.count(); ++i) ASSERT_NEAR(x.number(i), y.number(i), 1e-4);
}

TEST_F(Convert, StrataCheckpoints) {
  wide_model(at("wide"));
  const Conversion c = done(at("wide"), at("run"), {.format = "strata"});
  EXPECT_EQ(c.to_format, "strata");
  done(at("run"), at("back"));
  EXPECT_TRUE(same_tensors(at("wide"), at("back")));
  EXPECT_EQ(nlohmann::json::parse(*read_file(at("back/config.json"))),
            nlohmann::json::parse(*read_file(at("wide/config.json"))));
  EXPECT_THAT(refused(at("run"), at("x.gguf")), HasSubstr("by way of a Hugging Face directory"));
}

// Of such families a directory has one tensor for all experts of a layer.
TEST_F(Convert, ExpertsOfOneTensorGoToCheckpointsAndBack) {
  for (const std::string name : {"gpt_oss", "llama4", "gemma4_experts"}) {
    done(kData + name, at(name), {.format = "strata"});
    done(at(name), at(name + "_back"));
    EXPECT_TRUE(same_tensors(kData + name, at(name + "_back"))) << name;
    EXPECT_NE(refused(kData + name, at(name + ".gguf")), "no error") << name;
  }
  EXPECT_THAT(refused(kData + "gpt_oss", at("x.gguf")),
              HasSubstr("their weights are cut into tensors otherwise"));
  EXPECT_THAT(refused(kData + "gpt_oss", at("scanned"), {.format = "maxtext"}),
              HasSubstr("3 layers of gpt_oss: MaxText has multiples of 2"));
  done(kData + "gpt_oss", at("maxtext"), {.format = "maxtext", .scan_layers = false});
  done(at("maxtext"), at("from_maxtext"), {.config = kData + "gpt_oss"});
  EXPECT_TRUE(same_tensors(kData + "gpt_oss", at("from_maxtext")));
  // Blocks of MXFP4 become the numbers that they stand for.
  done(kData + "gpt_oss_mxfp4", at("blocks"), {.format = "maxtext"});
  done(kData + "gpt_oss_mxfp4", at("plain"), {.format = "strata"});
  done(at("plain"), at("plain_back"));
  EXPECT_FALSE(nlohmann::json::parse(*read_file(at("plain_back/config.json")))
                   .contains("quantization_config"));
}

TEST_F(Convert, ADryRunWritesNothing) {
  wide_model(at("wide"));
  const Conversion c = done(at("wide"), at("m.gguf"), {.type = "Q8_0", .dry_run = true});
  EXPECT_FALSE(file_exists(at("m.gguf")));
  bool found = false;
  for (const ConvertedTensor& t : c.tensors) {
    if (t.from != "model.layers.0.mlp.down_proj.weight") continue;
    found = true;
    EXPECT_EQ(t.to, "blk.0.ffn_down.weight");
    EXPECT_EQ(t.from_type + t.to_type, "F32Q8_0");
    EXPECT_EQ(t.from_shape, t.to_shape);
  }
  EXPECT_TRUE(found);
}

TEST_F(Convert, NothingIsDroppedOrGuessed) {
  EXPECT_THAT(refused(at("nobody"), at("m.gguf")), HasSubstr("there is no such file or folder"));
  EXPECT_THAT(refused(base_, at("m.gguf")), HasSubstr("neither config.json"));
  EXPECT_THAT(refused(kData + "llama", at("m.gguf"), {.type = "Q6_K"}),
              HasSubstr("does not write tensors of type 'Q6_K'"));
  EXPECT_THAT(refused(kData + "llama", at("m"), {.format = "pickle"}),
              HasSubstr("formats: gguf, hugging_face, strata"));
  ASSERT_TRUE(write_file_atomic(at("there.gguf"), "x").ok());
  EXPECT_THAT(refused(kData + "llama", at("there.gguf")), HasSubstr("is there; give another name"));
  EXPECT_EQ(*read_file(at("there.gguf")), "x");
  EXPECT_THAT(refused(at("there.gguf"), at("m")), HasSubstr("no GGUF file"));

  with_tokenizer("llama", at("cut"), {{"type", "Whitespace"}});
  EXPECT_THAT(refused(at("cut"), at("m.gguf")),
              HasSubstr("pre_tokenizer for which GGUF has no name"));

  auto write = [&](const std::string& folder, auto change) {
    fs::copy(kData + "llama", at(folder));
    auto file = checkpoint::read_safetensors(at(folder) + "/model.safetensors").value();
    change(file.tensors);
    EXPECT_TRUE(checkpoint::write_safetensors(at(folder) + "/model.safetensors", file).ok());
    return refused(at(folder), at("m.gguf"));
  };
  EXPECT_THAT(write("more", [](auto& t) { t.emplace("model.extra.weight", Literal::scalar(1.f)); }),
              HasSubstr("does not have: model.extra.weight"));
  EXPECT_THAT(write("less", [](auto& t) { t.erase("model.norm.weight"); }),
              HasSubstr("the tensor model.norm.weight is missing"));
  EXPECT_FALSE(file_exists(at("m.gguf")));
}

// ---- adapters ----------------------------------------------------------------------------------

struct AdapterCase {
  const char *name, *base;
};

class ConvertAdapter : public Convert, public testing::WithParamInterface<AdapterCase> {
 protected:
  std::string base() const { return kData + GetParam().base; }
  std::string adapter() const { return kData + "../peft/" + GetParam().name; }
  std::map<std::string, Array> golden() const {
    return checkpoint::load_file(adapter() + "/golden.safetensors").value();
  }
  /// How far the logits of a model are from those of base and adapter.
  double distance(const std::string& model) const {
    const auto want = golden();
    const Pretrained p = load(model).value();
    const Array got = p.model->forward(p.params, want.at("tokens"));
    return (max(abs(got - want.at("logits"))) / max(abs(want.at("logits")))).item<double>();
  }
};

TEST_P(ConvertAdapter, IsAddedToADirectory) {
  const Conversion all = done(base(), at("merged"), {.type = "F32", .adapter = adapter()});
  EXPECT_LE(distance(at("merged")), 1e-5);
  const auto tensors = tensors_of(at("merged"));
  for (const auto& [name, want] : golden()) {
    if (!name.starts_with("merged.")) continue;
    const Array got(tensors.at(name.substr(7)));
    EXPECT_LE(max(abs(got - want)).item<double>(), 1e-6) << name;
  }
  EXPECT_TRUE(fs::exists(at("merged") + "/config.json"));
  EXPECT_THAT(all.tensors, Contains(testing::Field(&ConvertedTensor::is_adapted, true)));
}

TEST_P(ConvertAdapter, IsAddedToAGgufFile) {
  done(base(), at("merged.gguf"), {.type = "F32", .adapter = adapter()});
  EXPECT_LE(distance(at("merged.gguf")), 1e-5);
}

TEST_P(ConvertAdapter, IsAddedFromAGgufFile) {
  done(base(), at("base.gguf"), {.type = "F32"});
  done(at("base.gguf"), at("merged"), {.adapter = adapter()});
  EXPECT_LE(distance(at("merged")), 1e-5);
}

TEST_P(ConvertAdapter, ATypeIsKept) {
  done(base(), at("merged"), {.adapter = adapter()});  // bf16, as the base
  const double d = distance(at("merged"));
  EXPECT_GT(d, 1e-5);
  EXPECT_LE(d, 5e-2);
}

INSTANTIATE_TEST_SUITE_P(Adapters, ConvertAdapter,
                         testing::Values(AdapterCase{"llama", "llama"},
                                         AdapterCase{"llama_patterns", "llama"},
                                         AdapterCase{"phi3", "phi3"}, AdapterCase{"gpt2", "gpt2"}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_F(Convert, AnAdapterOfAnotherModelIsRefused) {
  EXPECT_THAT(refused(kData + "qwen3", at("x"), {.adapter = kData + "../peft/gpt2"}),
              HasSubstr("no adapter of this model's matrices"));
  EXPECT_THAT(refused(kData + "qwen3", at("x"), {.adapter = kData}),
              HasSubstr("adapter_config.json"));
  EXPECT_FALSE(fs::exists(at("x")));
}

}  // namespace
}  // namespace strata::model
