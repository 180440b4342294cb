// Each family beside transformers: tiny models that it saved, loaded here, give its logits; and a
// cache of pages gives the bits of one reading.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/jit.h"
#include "strata/checkpoint/arrays.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/pretrained.h"

namespace strata::model {
namespace {

const std::string kData =
    (std::filesystem::path(__FILE__).parent_path().parent_path() / "testdata/published/").string();

std::map<std::string, Array> golden(const std::string& name) {
  return checkpoint::load_file(kData + name + "/golden.safetensors").value();
}

/// The largest difference, relative to the range of what is wanted.
double distance(const Array& got, const Array& want) {
  const std::vector<double> a = got.to_vector<double>(), b = want.to_vector<double>();
  EXPECT_EQ(a.size(), b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i])) return NAN;
    most = std::max(most, std::abs(a[i] - b[i]));
  }
  const auto [low, high] = std::minmax_element(b.begin(), b.end());
  return most / (*high - *low);
}

bool same_bits(const Array& x, const Array& y) {
  const Literal a = x.literal(), b = y.literal();
  return a.type() == b.type() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

class GoldenTest : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

TEST_P(GoldenTest, GivesTheLogitsOfTransformers) {
  const auto want = golden(GetParam());
  const Pretrained p = load(kData + GetParam()).value();
  const Array logits = jit([&](const tree::Tree& w, const Array& t) {
    return p.model->forward(w, t);
  })(p.params, want.at("tokens"));
  const double d = distance(logits, want.at("logits"));
  EXPECT_LE(d, 1e-5);
}

TEST_P(GoldenTest, PagesGiveTheSameInAnyPieces) {
  const auto want = golden(GetParam());
  const Array tokens = want.at("tokens");
  const int length = tokens.shape(1);
  const Pretrained p = load(kData + GetParam(), {.max_length = length}).value();
  constexpr int kPage = 4;
  // Two sequences whose pages are apart and out of order, with one page that nobody has.
  const int per_row = (length + kPage - 1) / kPage;
  std::vector<std::int32_t> table;
  for (int b = 0; b < 2; ++b)
    for (int m = 0; m < per_row; ++m) table.push_back(2 * (per_row - 1 - m) + b + 1);
  const Array pages = Array(Literal::of(Shape({2, per_row}), table));
  auto read = jit([&](const tree::Tree& w, const Batch& b, const tree::Tree& c) {
    return p.model->extend_pages(w, b, c, true);
  });
  const auto in_pieces = [&](int piece) {
    tree::Tree cache = p.model->init_pages(2 * per_row + 1, kPage);
    std::vector<Array> parts;
    // Every piece is as long as the longest; the last one's count says how much of it is meant.
    for (int from = 0; from < length; from += piece) {
      const int count = std::min(piece, length - from);
      const Array some =
          pad(tokens[{slice(), slice(from, from + count)}], {{0, 0}, {0, piece - count}});
      auto [logits, next] = read(
          p.params, Batch{some, full({2}, from, DType::i32), full({2}, count, DType::i32), pages},
          cache);
      parts.push_back(logits[{slice(), slice(0, count)}]);
      cache = next;
    }
    return concatenate(parts, 1);
  };
  const Array whole = in_pieces(length);
  EXPECT_LE(distance(whole, want.at("logits")), 1e-5);
  for (int piece : {1, 3}) EXPECT_TRUE(same_bits(in_pieces(piece), whole)) << piece;
}

TEST_P(GoldenTest, WrittenOutItHasTheSameTensors) {
  const Pretrained p = load(kData + GetParam(), {.weights = DType::bf16}).value();
  const std::string folder = testing::TempDir() + "published_" + GetParam();
  ASSERT_TRUE(save_pretrained(folder, p.config, p.params).ok());
  const auto before = checkpoint::load_file(kData + GetParam() + "/model.safetensors").value();
  const auto after = checkpoint::load_file(folder + "/model.safetensors").value();
  std::filesystem::remove_all(folder);
  ASSERT_EQ(before.size(), after.size());
  for (const auto& [name, tensor] : before) {
    ASSERT_TRUE(after.contains(name)) << name;
    EXPECT_TRUE(same_bits(tensor, after.at(name))) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Families, GoldenTest,
    testing::Values("llama", "llama_biased_tied", "llama_llama3", "llama_linear", "llama_dynamic",
                    "llama_yarn", "llama_yarn_mscale", "smollm3", "smollm3_sliding", "mistral",
                    "mistral_full", "qwen2", "qwen2_sliding", "qwen3", "qwen3_biased", "gemma",
                    "gemma2", "gemma2_usual", "gemma3", "gemma4", "gemma4_experts", "gemma4_values",
                    "gemma4_e2b", "gemma4_e4b", "phi3", "phi3_partial", "phi3_longrope_short",
                    "phi3_longrope_long", "olmo2", "olmo3", "gpt2", "gpt2_inverse", "mixtral",
                    "mixtral_sliding", "qwen2_moe", "qwen2_moe_dense_first", "qwen3_moe",
                    "deepseek_v2", "deepseek_v2_lite", "deepseek_v3", "deepseek_v3_halves",
                    "kimi_k2", "gpt_oss", "llama4", "llama4_interleaved", "llama4_some_dense",
                    "qwen3_next", "qwen3_next_tail", "qwen3_5", "qwen3_5_moe"),
    [](const auto& test) { return std::string(test.param); });

class BlocksTest : public GoldenTest {};

TEST_F(BlocksTest, BlocksOfMxfp4AreReadAsWhatTheyStandFor) {
  const auto want = golden("gpt_oss_mxfp4");
  const Pretrained p = load(kData + "gpt_oss_mxfp4").value();
  EXPECT_LE(distance(p.model->forward(p.params, want.at("tokens")), want.at("logits")), 1e-5);
  // Written out, they are plain tensors, and the configuration says so.
  const std::string folder = testing::TempDir() + "published_mxfp4";
  ASSERT_TRUE(save_pretrained(folder, p.config, p.params).ok());
  const Pretrained again = load(folder).value();
  EXPECT_TRUE(tree::equal(again.params, p.params));
  EXPECT_EQ(again.config.find("quantization_config"), std::string::npos);
  std::filesystem::remove_all(folder);
}

/// Families whose goldens have a gradient.
class TrainedTest : public GoldenTest {};

TEST_P(TrainedTest, GivesTheGradientOfTorch) {
  const auto want = golden(GetParam());
  const Array tokens = want.at("tokens");
  const int last = tokens.shape(1) - 1;
  const Pretrained p = load(kData + GetParam()).value();
  const tree::Tree gradient = jit([&](const tree::Tree& w, const Array& t) {
    return grad([&](const tree::Tree& q) {
      return mean(
          p.model->token_losses(q, t[{slice(), slice(0, last)}], t[{slice(), slice(1, last + 1)}]));
    })(w);
  })(p.params, tokens);
  // Everything that a loss goes through has its part in this one. Of qwen3_next torch's own in f32
  // is 5e-5 from its own in f64.
  const double most = std::string(GetParam()) == "qwen3_next" ? 1e-4 : 2e-5;
  EXPECT_LE(distance(gradient["embedder/embedding"], want.at("embedding_gradient")), most);
  for (std::size_t i = 0; i < gradient.size(); ++i)
    EXPECT_TRUE(all(isfinite(gradient.value(i))).item<bool>()) << gradient.entry(i).name;
}

INSTANTIATE_TEST_SUITE_P(Families, TrainedTest,
                         testing::Values("deepseek_v2", "deepseek_v2_lite", "deepseek_v3",
                                         "deepseek_v3_halves", "gemma4", "gemma4_experts",
                                         "gemma4_values", "gemma4_e2b", "gemma4_e4b", "kimi_k2",
                                         "gpt_oss", "llama4", "llama4_interleaved",
                                         "llama4_some_dense", "qwen3_next", "qwen3_next_tail",
                                         "qwen3_5", "qwen3_5_moe"),
                         [](const auto& test) { return std::string(test.param); });

class EncoderTest : public GoldenTest {};

TEST_F(EncoderTest, GivesTheHiddenStatesOfTransformers) {
  const auto want = golden("bert");
  const PretrainedEncoder p = load_encoder(kData + "bert").value();
  const Array mask = want.at("mask");
  const Array hidden = p.encoder->hidden(p.params, want.at("tokens"), mask, want.at("types"));
  const Array shown = expand_dims(mask, -1);  // what padding gives is not meant
  EXPECT_LE(distance(hidden * shown, want.at("hidden") * shown), 1e-5);
}

}  // namespace
}  // namespace strata::model
