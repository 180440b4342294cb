// A multimodal Qwen3.5 as it is released: the language model's tensors have another prefix, a
// layer's experts are one tensor, and those of pictures are left out.
#include "strata/model/qwen3_5/published.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "strata/api/numpy.h"
#include "strata/base/file.h"
#include "strata/checkpoint/arrays.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/pretrained.h"

namespace strata::model::published {
namespace {

namespace fs = std::filesystem;

const fs::path kData =
    fs::path(__FILE__).parent_path().parent_path() / "testdata/published/qwen3_5_moe";

class Qwen35Test : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  void TearDown() override { fs::remove_all(folder_); }
  const fs::path folder_ = fs::path(testing::TempDir()) / "qwen3_5_released";
};

/// The tensors of the text model where released files have them.
std::map<std::string, Array> released(const std::map<std::string, Array>& text) {
  std::map<std::string, Array> out;
  std::map<std::string, std::vector<Array>> gates, ups, downs;
  for (const auto& [name, tensor] : text) {
    const std::size_t experts = name.find("experts.");
    if (experts == name.npos) {
      const bool inner = name.starts_with("model.");
      out[inner ? "model.language_model." + name.substr(6) : name] = tensor;
      continue;
    }
    // There are fewer than ten experts, so names stand in their order.
    const std::string layer = "model.language_model." + name.substr(6, experts + 8 - 6);
    auto& of = name.find("gate_proj") != name.npos ? gates
               : name.find("up_proj") != name.npos ? ups
                                                   : downs;
    of[layer].push_back(tensor);
  }
  for (const auto& [layer, gate] : gates) {
    out[layer + "gate_up_proj"] = concatenate({stack(gate, 0), stack(ups[layer], 0)}, 1);
    out[layer + "down_proj"] = stack(downs[layer], 0);
  }
  out["model.visual.patch_embed.proj.weight"] = zeros({2, 3});
  out["mtp.fc.weight"] = zeros({2, 3});
  return out;
}

TEST_F(Qwen35Test, AReleasedDirectoryHoldsTheSameLanguageModel) {
  fs::create_directories(folder_);
  const auto text = checkpoint::load_file((kData / "model.safetensors").string()).value();
  std::map<std::string, Array> tensors(text.begin(), text.end());
  ASSERT_TRUE(
      checkpoint::save_file(released(tensors), (folder_ / "model.safetensors").string()).ok());
  std::ofstream(folder_ / "config.json")
      << R"({"model_type": "qwen3_5_moe", "vision_config": {"depth": 2}, "text_config": )"
      << read_file((kData / "config.json").string()).value() << "}";
  const Pretrained want = load(kData.string()).value();
  const Result<Pretrained> got = load(folder_.string());
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_TRUE(tree::equal(got->params, want.params));
}

TEST_F(Qwen35Test, AFileThatLacksAPartIsRefusedByName) {
  fs::create_directories(folder_);
  auto text = checkpoint::load_file((kData / "model.safetensors").string()).value();
  std::map<std::string, Array> tensors(text.begin(), text.end());
  tensors.erase("model.layers.0.linear_attn.in_proj_z.weight");
  tensors["model.layers.2.linear_attn.in_proj_a.weight"] = zeros({3, 16});
  ASSERT_TRUE(checkpoint::save_file(tensors, (folder_ / "model.safetensors").string()).ok());
  fs::copy_file(kData / "config.json", folder_ / "config.json");
  const Result<Pretrained> got = load(folder_.string());
  ASSERT_FALSE(got.ok());
  EXPECT_THAT(got.status().message(),
              testing::AllOf(testing::HasSubstr("layers.0.linear_attn.in_proj_z.weight [24, 16]"),
                             testing::HasSubstr("layers.2.linear_attn.in_proj_a.weight is [3, 16] "
                                                "and should be [4, 16]")));
}

}  // namespace
}  // namespace strata::model::published
