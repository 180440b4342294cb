// Layers that predict further tokens as DeepSeek V3's directories have them: passed by, read, and
// written back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "strata/api/random.h"
#include "strata/base/file.h"
#include "strata/checkpoint/arrays.h"
#include "strata/checkpoint/safetensors.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/convert/convert.h"
#include "strata/model/decoder/multi_token.h"
#include "strata/model/pretrained.h"

namespace strata::model {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FurtherNamesTest : public testing::Test {
 protected:
  FurtherNamesTest() {
    compile::register_cpu();
    for (const std::string* folder : {&folder_, &again_}) fs::remove_all(*folder);
    fs::create_directories(folder_);
    tensors_ = checkpoint::load_file(kData + "deepseek_v3/model.safetensors").value();
    // The layer behind the last one, whose number is 3, is as the last one.
    const auto all = tensors_;
    for (const auto& [name, tensor] : all)
      if (name.starts_with("model.layers.2."))
        tensors_["model.layers.3." + name.substr(15)] = tensor;
    const std::int64_t width = all.at("model.norm.weight").shape(0);
    const auto drawn = [&](int seed, std::vector<std::int64_t> shape) {
      return astype(random::normal(random::key(seed), shape), all.at("model.norm.weight").dtype());
    };
    tensors_["model.layers.3.enorm.weight"] = drawn(1, {width});
    tensors_["model.layers.3.hnorm.weight"] = drawn(2, {width});
    tensors_["model.layers.3.eh_proj.weight"] = drawn(3, {width, 2 * width});
    tensors_["model.layers.3.shared_head.norm.weight"] = drawn(4, {width});
    tensors_["model.layers.3.shared_head.head.weight"] = all.at("lm_head.weight");
    tensors_["model.layers.3.embed_tokens.weight"] = all.at("model.embed_tokens.weight");
    fs::copy_file(kData + "deepseek_v3/config.json", folder_ + "/config.json");
    EXPECT_TRUE(checkpoint::save_file(tensors_, folder_ + "/model.safetensors").ok());
  }
  static bool same_bits(const Array& a, const Array& b) {
    const Literal x = a.literal(), y = b.literal();
    return x.type() == y.type() && std::memcmp(x.data(), y.data(), x.bytes()) == 0;
  }
  const std::string kData =
      (fs::path(__FILE__).parent_path().parent_path() / "testdata/published/").string();
  const std::string folder_ = testing::TempDir() + "further_names",
                    again_ = testing::TempDir() + "further_names_again";
  std::map<std::string, Array> tensors_;
};

TEST_F(FurtherNamesTest, WithoutTheKeyTheyArePassedBy) {
  const auto loaded = load(folder_);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(decoder::further_layers(*loaded->model), 0);
  EXPECT_FALSE(loaded->params.contains("mtp_layers"));
}

TEST_F(FurtherNamesTest, AreReadAndWrittenBackToTheBit) {
  const auto loaded = load(folder_, {.weights = DType::bf16, .mtp_layers = 1});
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(decoder::further_layers(*loaded->model), 1);
  EXPECT_TRUE(same_bits(loaded->params["mtp_layers/layers/experts/gate/kernel"][0],
                        loaded->params["layers/experts/gate/kernel"][1]));
  ASSERT_TRUE(save_pretrained(again_, loaded->config, loaded->params).ok());
  const auto after = checkpoint::load_file(again_ + "/model.safetensors").value();
  EXPECT_EQ(after.size(), tensors_.size());
  for (const auto& [name, tensor] : tensors_) {
    ASSERT_TRUE(after.contains(name)) << name;
    EXPECT_TRUE(same_bits(tensor, after.at(name))) << name;
  }
  // In a GGUF file there are none.
  const std::string gguf = again_ + ".gguf";
  convert(again_, gguf);
  const auto without = load(gguf);
  ASSERT_TRUE(without.ok()) << without.status().message();
  EXPECT_EQ(decoder::further_layers(*without->model), 0);
  // What was written says so itself.
  const std::string config = read_file(again_ + "/config.json").value();
  EXPECT_THAT(config, HasSubstr(R"("num_nextn_predict_layers": 1)"));
  const auto once_more = load(again_);
  ASSERT_TRUE(once_more.ok()) << once_more.status().message();
  EXPECT_EQ(decoder::further_layers(*once_more->model), 1);
}

TEST_F(FurtherNamesTest, MoreThanThereAreIsToldByName) {
  const auto two = load(folder_, {.mtp_layers = 2});
  EXPECT_THAT(two.status().message(), HasSubstr("missing: model.layers.4.enorm.weight"));
  const auto llama = load(kData + "llama", {.mtp_layers = 1});
  EXPECT_EQ(llama.status().code(), Code::unsupported);
  EXPECT_THAT(llama.status().message(),
              HasSubstr("mtp_num_layers=1: models of llama are published without"));
}

}  // namespace
}  // namespace strata::model
