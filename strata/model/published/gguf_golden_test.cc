// The same models as GGUF files, laid out as llama.cpp's converter does it, give the weights and
// the logits of their directories.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "strata/api/numpy.h"
#include "strata/api/transform/jit.h"
#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/checkpoint/arrays.h"
#include "strata/checkpoint/gguf.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/pretrained.h"
#include "strata/model/published/family.h"
#include "strata/model/published/gguf_source.h"
#include "strata/model/published/load_weights.h"

namespace strata::model {
namespace {

using testing::HasSubstr;

const std::string kDirectories =
    (std::filesystem::path(__FILE__).parent_path().parent_path() / "testdata/published/").string();
const std::string kFiles =
    (std::filesystem::path(__FILE__).parent_path().parent_path() / "testdata/published_gguf/")
        .string();

class GgufGoldenTest : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

TEST_P(GgufGoldenTest, IsTheModelOfTheDirectory) {
  const std::string name = GetParam();
  const Pretrained file = load(kFiles + name + ".gguf").value();
  const Pretrained folder = load(kDirectories + name).value();
  EXPECT_TRUE(tree::equal(file.params, folder.params));
  const Array tokens =
      checkpoint::load_file(kDirectories + name + "/golden.safetensors").value().at("tokens");
  const auto logits = [&](const Pretrained& p) {
    return jit([&](const tree::Tree& w, const Array& t) { return p.model->forward(w, t); })(
               p.params, tokens)
        .to_vector<float>();
  };
  if (name == "llama_llama3")  // its scaling is stated by divisors, which round elsewhere
    EXPECT_THAT(logits(file), testing::Pointwise(testing::FloatNear(2e-5f), logits(folder)));
  else
    EXPECT_EQ(logits(file), logits(folder));
}

TEST_P(GgufGoldenTest, WrittenOutItHasTheSameTensors) {
  const std::string path = kFiles + GetParam() + ".gguf";
  const published::GgufModel file = published::open_gguf(path).value();
  const published::Family& family = published::family_of(file.metadata);
  const published::Config config = published::Config::parse(family.from_gguf(file.metadata));
  const decoder::Options options = family.options(config);
  const auto tensors =
      published::published_tensors(options, family.names(options), load(path).value().params,
                                   published::TensorSource::Convention::gguf);
  for (const auto& [name, tensor] : tensors)
    EXPECT_TRUE(tensor.same_bits(file.tensors->read(name).value())) << name;
  std::size_t others = 0;
  for (const auto& [name, shape] : file.tensors->shapes())
    if (name.starts_with("rope_")) ++others;
  EXPECT_EQ(tensors.size() + others, file.tensors->shapes().size());
}

INSTANTIATE_TEST_SUITE_P(Families, GgufGoldenTest,
                         testing::Values("llama", "llama_biased_tied", "llama_llama3", "llama_yarn",
                                         "mistral_full", "smollm3", "qwen2", "qwen3", "gemma",
                                         "gemma2_usual", "gemma3", "phi3_longrope_long", "olmo2",
                                         "gpt2", "deepseek_v2", "deepseek_v3", "gpt_oss",
                                         "llama4_interleaved"),
                         [](const auto& test) { return std::string(test.param); });

TEST(GgufLatentTest, TheTwoPartsOfNewerFilesAreOneWeight) {
  compile::register_cpu();
  const Pretrained file = load(kFiles + "kimi_k2.gguf").value();
  EXPECT_EQ(file.model->family(), "deepseek_v3");
  EXPECT_TRUE(tree::equal(file.params, load(kDirectories + "kimi_k2").value().params));
}

TEST(GgufEncoderTest, IsTheModelOfTheDirectory) {
  compile::register_cpu();
  EXPECT_TRUE(tree::equal(load_encoder(kFiles + "bert.gguf").value().params,
                          load_encoder(kDirectories + "bert").value().params));
}

/// The model llama with other metadata.
Status refused(const std::function<void(checkpoint::GgufMetadata&)>& change) {
  const checkpoint::Gguf file = checkpoint::Gguf::open(kFiles + "llama.gguf").value();
  checkpoint::GgufMetadata metadata = file.metadata();
  change(metadata);
  const std::string path = testing::TempDir() + "changed.gguf";
  auto writer = checkpoint::GgufWriter::create(path, metadata, file.tensors()).value();
  for (const checkpoint::GgufTensor& t : file.tensors()) EXPECT_TRUE(writer.add(file.raw(t)).ok());
  EXPECT_TRUE(writer.finish().ok());
  const Status status = load(path).status();
  std::filesystem::remove(path);
  return status;
}
void set(checkpoint::GgufMetadata& metadata, std::string_view key, checkpoint::GgufValue value) {
  for (auto& [k, v] : metadata)
    if (k == key) {
      v = std::move(value);
      return;
    }
  metadata.emplace_back(key, std::move(value));
}
void drop(checkpoint::GgufMetadata& metadata, std::string_view key) {
  std::erase_if(metadata, [&](const auto& entry) { return entry.first == key; });
}

TEST(GgufModelTest, WhatIsNotKnownIsRefusedByName) {
  compile::register_cpu();
  EXPECT_TRUE(refused([](auto&) {}).ok());
  const Status architecture =
      refused([](auto& m) { set(m, "general.architecture", std::string("rwkv")); });
  EXPECT_EQ(architecture.code(), Code::unsupported);
  EXPECT_THAT(architecture.message(), HasSubstr("rwkv"));
  const Status kind = refused([](auto& m) { set(m, "general.type", std::string("mmproj")); });
  EXPECT_EQ(kind.code(), Code::unsupported);
  EXPECT_THAT(kind.message(), HasSubstr("mmproj"));
  EXPECT_THAT(refused([](auto& m) { set(m, "split.count", std::uint16_t{2}); }).message(),
              HasSubstr("one of 2 parts"));
  EXPECT_THAT(refused([](auto& m) { drop(m, "llama.block_count"); }).message(),
              HasSubstr("llama.block_count is missing"));
  EXPECT_THAT(
      refused([](auto& m) { set(m, "llama.rope.scaling.type", std::string("spiral")); }).message(),
      HasSubstr("spiral"));
  EXPECT_THAT(refused([](auto& m) {
                set(m, "llama.attention.head_count", std::vector<std::int32_t>{4, 4, 2});
              }).message(),
              HasSubstr("differs from layer to layer"));
  EXPECT_TRUE(refused([](auto& m) {
                set(m, "llama.attention.head_count", std::vector<std::int32_t>{4, 4, 4});
              }).ok());
  EXPECT_THAT(
      refused([](auto& m) { set(m, "llama.attention.value_length", std::uint32_t{7}); }).message(),
      HasSubstr("value_length=7"));
  EXPECT_THAT(
      refused([](auto& m) { set(m, "llama.embedding_length", std::uint32_t{32}); }).message(),
      HasSubstr("should be"));
}

}  // namespace
}  // namespace strata::model
