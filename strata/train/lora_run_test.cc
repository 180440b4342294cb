// Runs that train adapters beside a published model: the keys below `lora`, dense and packed bases,
// checkpoints that hold adapters alone, going on, the folder that PEFT reads.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "strata/base/file.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/convert/convert.h"
#include "strata/model/pretrained.h"
#include "strata/train/config/lora_options.h"
#include "strata/train/run.h"
#include "strata/train/state.h"

namespace strata::train {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Keys = std::vector<std::string>;

const std::string kModel = (fs::path(__FILE__).parent_path() / "testdata/tuning").string();

class LoraRun : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  LoraRun() {
    std::string name = testing::TempDir() + "lora_run_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    std::string text;
    for (int i = 0; i < 400; ++i) text += "the cat sat on the mat and the dog saw it. ";
    EXPECT_TRUE(write_file_atomic(folder_ + "/text.txt", text).ok());
  }
  ~LoraRun() override { fs::remove_all(folder_); }

  Config config(Keys more) const {
    Keys keys = {"init=" + kModel,
                 "train_files=" + folder_ + "/text.txt",
                 "base_output_directory=" + folder_ + "/runs",
                 "steps=20",
                 "max_target_length=24",
                 "per_device_batch_size=2",
                 "learning_rate=1e-2",
                 "lr_schedule_type=constant",
                 "eval_fraction=0.1",
                 "lora.rank=4",
                 "lora.alpha=8"};
    keys.insert(keys.end(), more.begin(), more.end());
    return read_config({}, keys);
  }
  static Result<RunResult> quietly(const Config& c) {
    const int quiet = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    Progress progress(quiet);
    auto result = run(c, progress);
    ::close(quiet);
    return result;
  }
  RunResult done(const Keys& more) const {
    auto result = quietly(config(more));
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result ? *result : RunResult();
  }
  std::string refused(const Keys& more) const {
    try {
      const auto result = quietly(config(more));
      return result ? "nothing was refused" : result.status().message();
    } catch (const ConfigError& e) {
      return e.what();
    }
  }
  std::string adapter_of(const RunResult& r) const {
    return read_file(r.adapter + "/adapter_model.safetensors").value();
  }
  /// The model as a GGUF file of packed weights.
  std::string packed() const {
    const std::string file = folder_ + "/model.gguf";
    if (!fs::exists(file)) EXPECT_TRUE(model::convert(kModel, file, {.type = "Q8_0"}).ok());
    return file;
  }

  std::string folder_;
};

TEST_F(LoraRun, LeavesAnAdapterThatTheBaseIsReadWith) {
  const RunResult r = done({});
  EXPECT_EQ(r.adapter, folder_ + "/runs/default/adapter");
  EXPECT_LT(r.loss, 4);  // 5.8 at first
  const auto tuned = model::load(kModel, {.adapter = r.adapter});
  ASSERT_TRUE(tuned) << tuned.status().message();
  const auto config = read_file(r.adapter + "/adapter_config.json").value();
  EXPECT_THAT(config, HasSubstr("\"base_model_name_or_path\": \"" + kModel + "\""));
  EXPECT_THAT(read_file(folder_ + "/runs/default/config.yml").value(), HasSubstr("\"rank\": 4"));
}

TEST_F(LoraRun, ACheckpointHoldsTheAdaptersAlone) {
  const RunResult r = done({"steps=2"});
  const auto latest = checkpoint::load_latest(folder_ + "/runs/default/checkpoints");
  ASSERT_TRUE(latest && latest->checkpoint);
  for (const auto& [name, tensor] : latest->checkpoint->parts.at("params"))
    EXPECT_THAT(name, HasSubstr("lora"));
  // It is no model by itself, and is not taken for one.
  const auto whole = model::convert(r.checkpoint, folder_ + "/out");
  EXPECT_THAT(whole.status().message(), HasSubstr("--adapter"));
}

TEST_F(LoraRun, GoesOnWithTheSameBits) {
  for (const Keys& base : {Keys{}, Keys{"init=" + packed(), "weight_dtype=packed"}}) {
    const auto with = [&](Keys keys, const char* name) {
      keys.insert(keys.end(), base.begin(), base.end());
      keys.push_back(std::string("run_name=") + name + (base.empty() ? "" : "_packed"));
      return done(keys);
    };
    const RunResult whole = with({"steps=6"}, "whole");
    (void)with({"steps=3"}, "parts");
    const RunResult parts = with({"steps=6"}, "parts");
    EXPECT_EQ(parts.step, 6);
    EXPECT_EQ(adapter_of(whole), adapter_of(parts));
    EXPECT_EQ(whole.loss, parts.loss);
  }
}

TEST_F(LoraRun, APackedBaseLearnsToo) {
  const RunResult r = done({"init=" + packed(), "weight_dtype=packed"});
  EXPECT_LT(r.loss, 4);
  EXPECT_TRUE(model::load(packed(), {.packed = true, .adapter = r.adapter}).ok());
}

TEST_F(LoraRun, WrongKeysAreRefusedByName) {
  EXPECT_THAT(refused({"lora.rnk=4"}), HasSubstr("did you mean 'rank'"));
  EXPECT_THAT(refused({"lora.rank=0"}), HasSubstr("lora.rank=0: allowed is an integer"));
  EXPECT_THAT(refused({"lora.alpha=0"}), HasSubstr("lora.alpha=0"));
  EXPECT_THAT(refused({"lora.init=pissa"}), HasSubstr("lora.init"));
  EXPECT_THAT(refused({"lora.use_rslora=2"}), HasSubstr("true or false"));
  EXPECT_THAT(refused({"lora.dropout=0.1"}), HasSubstr("no dropout"));
  EXPECT_THAT(refused({"lora.target_modules=[]"}), HasSubstr("target_modules"));
  EXPECT_THAT(refused({"lora.target_modules=x_proj"}), HasSubstr("there are down_proj"));
  EXPECT_THAT(refused({"weight_dtype=packed"}), HasSubstr("has no weights in packed blocks"));
  EXPECT_THAT(refused({"init="}), HasSubstr("give init="));
  (void)done({"steps=1"});
  EXPECT_THAT(refused({"lora.rank=8"}), HasSubstr("(the checkpoint has {\"rank\":4,\"alpha\":8})"));
}

TEST(LoraOptions, ArePeftsByDefault) {
  EXPECT_FALSE(lora_options(Table::object()));
  const auto o = lora_options({{"rank", 8}});
  ASSERT_TRUE(o);
  EXPECT_EQ(o->alpha, 8);
  EXPECT_EQ(o->target_modules, std::vector<std::string>{"all-linear"});
  EXPECT_EQ(lora_options({{"target_modules", {"q_proj", "v_proj"}}})->target_modules.size(), 2u);
}

TEST(LoraOptions, PackedWeightsNeedAdapters) {
  try {
    (void)read_config({}, {"init=x", "weight_dtype=packed"}, Data::optional);
    ADD_FAILURE() << "they are trained";
  } catch (const ConfigError& e) {
    EXPECT_THAT(e.what(), HasSubstr("lora.rank=16"));
  }
}

}  // namespace
}  // namespace strata::train
