// Models made of tiny published ones: the promises made about them hold.
#include "strata/model/surgery/surgery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/base/error.h"
#include "strata/checkpoint/arrays.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/convert/convert.h"
#include "strata/model/pretrained.h"

namespace strata::model {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

const fs::path kData = fs::path(__FILE__).parent_path().parent_path() / "testdata/published";

class SurgeryTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  static std::string model(const std::string& name) { return (kData / name).string(); }
  static std::map<std::string, Array> tensors(const std::string& path) {
    return checkpoint::load_file(path + "/model.safetensors").value();
  }
  static float distance(const Array& a, const Array& b) {
    return max(abs(astype(a, DType::f32) - astype(b, DType::f32))).item<float>();
  }

 private:
  fs::path folder_;
};

TEST_F(SurgeryTest, LayerMaps) {
  EXPECT_THAT(parse_layer_map("0-2,1,3-3", 4), ElementsAre(0, 1, 2, 1, 3));
  for (const char* bad : {"", "a", "0-", "4", "2-1", "0,,1", "0 1", "-1"})
    EXPECT_THROW((void)parse_layer_map(bad, 4), Error) << bad;
  const auto map = upscaled_layers(32, 40);
  EXPECT_EQ(map.size(), 40u);
  EXPECT_EQ(map[19], 19);
  EXPECT_EQ(map[20], 12);
  EXPECT_EQ(map[39], 31);
  EXPECT_THROW((void)upscaled_layers(32, 32), Error);
  EXPECT_THROW((void)upscaled_layers(32, 66), Error);
}

TEST_F(SurgeryTest, UpscaledLayersAreThoseOfTheMap) {
  const auto done = upscale(model("llama"), at("up"), {.to_layers = 4});
  ASSERT_TRUE(done.ok()) << done.status().message();
  EXPECT_EQ(done->layers_after, 4);
  EXPECT_FALSE(done->same_function);
  const auto before = tensors(model("llama")), after = tensors(at("up"));
  const int map[] = {0, 1, 1, 2};
  for (int i = 0; i < 4; ++i)
    for (const char* part : {"self_attn.q_proj", "mlp.down_proj", "input_layernorm"}) {
      const auto name = [&](int layer) {
        return fmt::format("model.layers.{}.{}.weight", layer, part);
      };
      EXPECT_EQ(distance(after.at(name(i)), before.at(name(map[i]))), 0) << i << part;
    }
  EXPECT_TRUE(load(at("up")).ok());
}

TEST_F(SurgeryTest, RepeatedLayersThatAddZeroKeepTheFunctionBitForBit) {
  const auto done =
      upscale(model("qwen3"), at("up"), {.layers = "0-1,1,2,2", .zero_repeats = true});
  ASSERT_TRUE(done.ok()) << done.status().message();
  EXPECT_TRUE(done->same_function);
  const auto same = compare(model("qwen3"), at("up"));
  ASSERT_TRUE(same.ok()) << same.status().message();
  EXPECT_LE(same->relative, 1e-6);
  const auto skipped =
      upscale(model("qwen3"), at("other"), {.layers = "0,2,2", .zero_repeats = true});
  ASSERT_TRUE(skipped.ok());
  EXPECT_FALSE(skipped->same_function);
  EXPECT_GT(compare(model("qwen3"), at("other"))->relative, 1e-3);
}

TEST_F(SurgeryTest, LayersThatDifferGoWithTheirKind) {
  // Windows of gemma2 alternate: config.json lists them.
  const auto done = upscale(model("gemma3"), at("up"), {.layers = "0,1,2,1"});
  ASSERT_TRUE(done.ok()) << done.status().message();
  std::ifstream file(at("up") + "/config.json");
  const std::string config((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(config, HasSubstr("full_attention"));
  EXPECT_TRUE(load(at("up")).ok());
  // gpt2_inverse divides scores by the layer's number, which a map cannot keep.
  EXPECT_THROW((void)upscale(model("gpt2_inverse"), at("no"), {.layers = "0,1,1,2"}), Error);
}

struct Upcycled {
  const char* name;
  const char* model;
  UpcycleOptions options;
};
class UpcycleTest : public SurgeryTest, public testing::WithParamInterface<Upcycled> {};

TEST_P(UpcycleTest, ComputesWhatTheDenseModelDoes) {
  const auto done = upcycle(model(GetParam().model), at("experts"), GetParam().options);
  ASSERT_TRUE(done.ok()) << done.status().message();
  EXPECT_TRUE(done->same_function) << done->preserves;
  EXPECT_GT(done->weights_after, done->weights_before);
  const auto same = compare(model(GetParam().model), at("experts"));
  ASSERT_TRUE(same.ok()) << same.status().message();
  EXPECT_LE(same->relative, 1e-5);
  EXPECT_EQ(same->agreement, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Models, UpcycleTest,
    testing::Values(
        Upcycled{"copies", "llama", {.experts = 4, .active = 2}},
        Upcycled{"slices", "llama", {.experts = 8, .active = 4, .granularity = 2}},
        Upcycled{"thirds",
                 "mistral",
                 {.experts = 6, .active = 3, .granularity = 3, .write = {.type = "F32"}}},
        Upcycled{"wide", "qwen2", {.experts = 16, .active = 8, .granularity = 8}},
        Upcycled{"shared",
                 "qwen2",
                 {.experts = 6,
                  .active = 3,
                  .granularity = 4,
                  .shared = 1,
                  .dense_layers = 1,
                  .write = {.type = "F32"}}},
        Upcycled{"shared_mistral",
                 "mistral_full",
                 {.experts = 4, .active = 2, .granularity = 3, .shared = 1, .dense_layers = 2}},
        Upcycled{"dense_first",
                 "qwen3",
                 {.experts = 4, .active = 2, .granularity = 2, .dense_layers = 1}}),
    [](const auto& i) { return std::string(i.param.name); });

TEST_F(SurgeryTest, OneActiveCopyGivesTheSameBits) {
  ASSERT_TRUE(upcycle(model("llama"), at("experts"), {.experts = 4, .active = 1}).ok());
  EXPECT_TRUE(compare(model("llama"), at("experts"))->same_bits);
}

TEST_F(SurgeryTest, UpcyclingSaysWhatItDoesNotKeep) {
  const auto part = upcycle(model("llama"), at("a"), {.experts = 8, .active = 3, .granularity = 2});
  ASSERT_TRUE(part.ok()) << part.status().message();
  EXPECT_FALSE(part->same_function);
  EXPECT_GT(compare(model("llama"), at("a"))->relative, 1e-3);
  // Three times a bf16 number is rounded.
  const auto thirds =
      upcycle(model("llama"), at("t"), {.experts = 3, .active = 3, .granularity = 3});
  ASSERT_TRUE(thirds.ok());
  EXPECT_FALSE(thirds->same_function);
  EXPECT_LE(compare(model("llama"), at("t"))->relative, 1e-2);
  const auto noisy = upcycle(model("llama"), at("b"), {.experts = 4, .active = 2, .noise = 0.1});
  ASSERT_TRUE(noisy.ok());
  EXPECT_FALSE(noisy->same_function);
  const double moved = compare(model("llama"), at("b"))->relative;
  EXPECT_GT(moved, 1e-4);
  EXPECT_LT(moved, 0.5);
  EXPECT_THROW((void)upcycle(model("llama"), at("c"), {.granularity = 7}), Error);
  EXPECT_THROW((void)upcycle(model("mixtral"), at("c"), {}), Error);
  EXPECT_THROW((void)upcycle(model("gemma2"), at("c"), {}), Error);
}

TEST_F(SurgeryTest, UpcyclingSaysWhatIsAllowedInstead) {
  const auto refusal = [&](const char* from, const UpcycleOptions& o) -> std::string {
    try {
      (void)upcycle(model(from), at("none"), o);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(
      refusal("llama", {.granularity = 7}),
      HasSubstr("granularity=7: it does not divide the dense width 24; near it are 6 and 8"));
  EXPECT_THAT(
      refusal("llama", {.granularity = 4, .shared = 4}),
      HasSubstr("shared=4: of the granularity=4 slices of a branch one at least is routed"));
  EXPECT_THAT(refusal("llama", {.dense_layers = 3}),
              HasSubstr("dense_layers=3: the model has 3 layers, of which one at least"));
  EXPECT_THAT(refusal("llama", {.noise = -1}), HasSubstr("noise=-1: allowed is a finite number"));
  EXPECT_THAT(refusal("llama", {.granularity = 4, .shared = 1}),
              HasSubstr("here 4 of 6 do not make 16. Without shared and dense_layers"));
  EXPECT_THAT(refusal("qwen3", {.granularity = 4, .shared = 1}),
              HasSubstr("shared=1: qwen3_moe, which qwen3 becomes, has no shared expert"));
  EXPECT_THAT(refusal("gemma2", {}),
              HasSubstr("from llama, mistral, qwen2 and qwen3 there is one"));
  const auto sevenths =
      upcycle(model("llama"), at("s"),
              {.experts = 64, .active = 8, .granularity = 3, .write = {.dry_run = true}});
  EXPECT_THAT(sevenths->preserves,
              HasSubstr("active=8 and experts=64 are not both multiples of "
                        "the 3 routed slices, as active=9 and experts=63 are"));
}

TEST_F(SurgeryTest, EveryPackagingOnBothSides) {
  ASSERT_TRUE(convert(model("llama"), at("dense.gguf")).ok());
  ASSERT_TRUE(convert(model("llama"), at("checkpoint"), {.format = "strata"}).ok());
  const UpcycleOptions o{.experts = 4, .active = 2};
  const auto file = upcycle(at("dense.gguf"), at("experts.gguf"), o);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_LE(compare(model("llama"), at("experts.gguf"))->relative, 1e-5);
  UpcycleOptions saved = o;
  saved.write.format = "strata";
  const auto run = upcycle(at("checkpoint"), at("run"), saved);
  ASSERT_TRUE(run.ok()) << run.status().message();
  ASSERT_TRUE(convert(at("run"), at("back")).ok());
  EXPECT_LE(compare(model("llama"), at("back"))->relative, 1e-5);
  for (const auto& entry : fs::directory_iterator(fs::path(at("x")).parent_path()))
    EXPECT_THAT(entry.path().string(), testing::Not(HasSubstr(".source")));
}

TEST_F(SurgeryTest, SlicesAndPrunes) {
  ASSERT_TRUE(slice_layers(model("llama"), at("two"), {.layers = "0,2"}).ok());
  const auto dropped = prune(model("llama"), at("drop"), {.drop_layers = "1"});
  ASSERT_TRUE(dropped.ok());
  EXPECT_EQ(dropped->layers_after, 2);
  EXPECT_TRUE(compare(at("two"), at("drop"))->same_bits);
  EXPECT_THROW((void)slice_layers(model("llama"), at("x"), {.layers = "1,0"}), Error);

  const auto narrow = prune(model("llama"), at("narrow"), {.mlp_width = 20});
  ASSERT_TRUE(narrow.ok()) << narrow.status().message();
  const Array before = tensors(model("llama")).at("model.layers.1.mlp.up_proj.weight"),
              after = tensors(at("narrow")).at("model.layers.1.mlp.up_proj.weight");
  EXPECT_EQ(before.shape(0), 24);
  EXPECT_EQ(after.shape(0), 20);
  // Rows that stay are rows that were, in their order.
  int at_row = 0;
  for (int i = 0; i < 20; ++i) {
    while (at_row < 24 && distance(after[i], before[at_row]) != 0) ++at_row;
    EXPECT_LT(at_row++, 24) << i;
  }
}

TEST_F(SurgeryTest, Merges) {
  // Another model of the same configuration: layers in another order.
  ASSERT_TRUE(upscale(model("llama"), at("b"), {.layers = "2,1,0"}).ok());
  const std::string name = "model.layers.0.self_attn.q_proj.weight";
  const Array a = astype(tensors(model("llama")).at(name), DType::f32),
              b = astype(tensors(at("b")).at(name), DType::f32);
  const auto merged = [&](const std::string& to, const MergeOptions& o) {
    const auto done = o.base.empty() ? merge_models({model("llama"), at("b")}, at(to), o)
                                     : merge_models({at("b")}, at(to), o);
    EXPECT_TRUE(done.ok()) << done.status().message();
    return astype(tensors(at(to)).at(name), DType::f32);
  };
  // Tensors are bf16.
  EXPECT_LE(distance(merged("linear", {.weights = {3, 1}}), a * 0.75f + b * 0.25f), 4e-3f);
  const float cosine = (sum(a * b) / sqrt(sum(a * a) * sum(b * b))).item<float>();
  const float angle = std::acos(cosine);
  EXPECT_LE(distance(merged("slerp", {.method = MergeMethod::slerp, .weights = {1, 1}}),
                     (a + b) * (std::sin(angle / 2) / std::sin(angle))),
            8e-3f);
  EXPECT_LE(distance(merged("task", {.method = MergeMethod::task_arithmetic,
                                     .weights = {0.5},
                                     .base = model("llama")}),
                     a + 0.5f * (b - a)),
            8e-3f);
  const Array ties =
      merged("ties", {.method = MergeMethod::ties, .base = model("llama"), .density = 0.25});
  const double kept = mean(astype(not_equal(ties, a), DType::f32)).item<float>();
  EXPECT_NEAR(kept, 0.25, 0.02);
  EXPECT_LE(distance(where(equal(ties, a), b, ties), b), 8e-3f) << "what is kept is b's";
  EXPECT_THROW((void)merge_models({model("llama")}, at("x"), {}), Error);
  EXPECT_THROW((void)merge_models({model("llama"), model("qwen2")}, at("x"), {}), Error);
}

TEST_F(SurgeryTest, DryRunsWriteNothingAndNothingIsReplaced) {
  UpcycleOptions o;
  o.write.dry_run = true;
  const auto planned = upcycle(model("llama"), at("x"), o);
  ASSERT_TRUE(planned.ok());
  EXPECT_FALSE(planned->tensors.empty());
  EXPECT_FALSE(fs::exists(at("x")));
  fs::create_directories(at("full/inner"));
  EXPECT_EQ(upcycle(model("llama"), at("full"), {}).status().code(), Code::exists);
  EXPECT_EQ(upcycle(at("nowhere"), at("y"), {}).status().code(), Code::not_found);
}

}  // namespace
}  // namespace strata::model
