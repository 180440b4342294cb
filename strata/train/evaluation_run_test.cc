// Evaluations in runs: on files of their own, when, how much, and what ends a run.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "strata/api/sharding/devices.h"
#include "strata/base/file.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/train/report/metrics.h"
#include "strata/train/run.h"

namespace strata::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

class EvaluationRunTest : public testing::Test {
 protected:
  EvaluationRunTest() {
    compile::register_cpu();
    (void)cpu_devices(8);
    std::string name = testing::TempDir() + "evaluation_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    std::ofstream text(folder_ + "/text.txt"), other(folder_ + "/other.jsonl");
    for (int i = 0; i < 200; ++i) text << "verse " << i * i % 97 << " of a little book.\n";
    // 33 + 1 and 38 + 1 tokens: a separator stands behind each.
    other << R"({"body":"verse 4 of a little book, and more"})" << "\n"
          << R"({"body":"another verse of another little book."})" << "\n";
  }
  ~EvaluationRunTest() override { fs::remove_all(folder_); }
  Config tiny(const std::string& name, std::vector<std::string> more = {}) const {
    std::vector<std::string> keys = {"base_emb_dim=16",
                                     "base_num_query_heads=2",
                                     "base_num_kv_heads=2",
                                     "head_dim=8",
                                     "base_mlp_dim=24",
                                     "base_num_decoder_layers=1",
                                     "max_target_length=16",
                                     "per_device_batch_size=4",
                                     "steps=6",
                                     "eval_interval=2",
                                     "eval_steps=-1",
                                     "learning_rate=1e-2",
                                     "checkpoint_period=1",
                                     "train_files=" + folder_ + "/text.txt",
                                     "eval_files=" + folder_ + "/other.jsonl",
                                     "eval_data_columns=body",
                                     "base_output_directory=" + folder_,
                                     "run_name=" + name};
    keys.insert(keys.end(), more.begin(), more.end());
    return read_config({}, keys);
  }
  /// What the run says.
  std::string train(const Config& c) {
    const std::string path = folder_ + "/said";
    const int to = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    Progress progress(to);
    result_ = run(c, progress);
    ::close(to);
    return *read_file(path);
  }
  /// Steps with an evaluation, and its loss and weights.
  std::vector<std::array<double, 3>> evaluations(const std::string& name) const {
    std::vector<std::array<double, 3>> out;
    const auto lines = *read_metrics(folder_ + "/" + name + "/metrics/metrics.jsonl");
    for (const MetricsLine& line : lines)
      if (const auto at = line.values.find("eval/avg_loss"); at != line.values.end())
        out.push_back(
            {static_cast<double>(line.step), at->second, line.values.at("eval/total_weights")});
    return out;
  }
  std::vector<double> steps(const std::string& name) const {
    std::vector<double> out;
    for (const auto& e : evaluations(name)) out.push_back(e[0]);
    return out;
  }
  std::string folder_;
  std::optional<Result<RunResult>> result_;
};

TEST_F(EvaluationRunTest, ReadsItsFilesWhole) {
  const std::string said = train(tiny("a", {"log_period=1"}));
  ASSERT_TRUE(result_->ok()) << result_->status().message();
  const auto all = evaluations("a");
  ASSERT_EQ(all.size(), 3u);
  const double tokens =
      static_cast<double>(std::string("verse 4 of a little book, and more").size() +
                          std::string("another verse of another little book.").size() + 2);
  for (const auto& e : all) EXPECT_EQ(e[2], tokens - 1);  // the first token is no target
  EXPECT_THAT(said,
              HasSubstr("Starting eval after train step 2\nCompleted eval step: 0, seconds: "));
  EXPECT_THAT(
      said, HasSubstr(fmt::format("Completed eval after train step 2, loss={:.3f}, ", all[0][1])));
  // Nothing of the files that are trained on is kept.
  EXPECT_THAT(said, HasSubstr("tokens to read: text (5.37 k, 100 %)"));
}

TEST_F(EvaluationRunTest, ABatchOfAnySizeHasTheSameLoss) {
  train(tiny("a"));
  const auto one = evaluations("a");
  for (const auto& keys : std::vector<std::vector<std::string>>{
           {"eval_per_device_batch_size=1"},
           {"per_device_batch_size=1", "gradient_accumulation_steps=4"},
           {"micro_batch_size=4", "ici_fsdp_parallelism=4", "ici_tensor_parallelism=2"},
           {"micro_batch_size=4", "ici_fsdp_parallelism=4", "ici_tensor_parallelism=2",
            "eval_per_device_batch_size=0.25"}}) {
    fs::remove_all(folder_ + "/b");
    train(tiny("b", keys));
    ASSERT_TRUE(result_->ok()) << result_->status().message();
    const auto other = evaluations("b");
    ASSERT_EQ(other.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_NEAR(other[i][1], one[i][1], 1e-4) << keys[0];
      EXPECT_EQ(other[i][2], one[i][2]) << keys[0];
    }
  }
}

TEST_F(EvaluationRunTest, ARunThatGoesOnEvaluatesAsAnUnbrokenOne) {
  train(tiny("whole"));
  for (const char* steps : {"steps=3", "steps=5", "steps=6"})
    train(tiny("parts", {"learning_rate_schedule_steps=6", "eval_start_step=1", steps}));
  EXPECT_EQ(evaluations("whole"), evaluations("parts"));
}

TEST_F(EvaluationRunTest, StepsAreMaxTexts) {
  // From 0: eval_start_step, and each eval_interval-th behind it; here from 1.
  train(tiny("a", {"eval_start_step=0"}));
  EXPECT_THAT(steps("a"), ElementsAre(1, 3, 5));
  train(tiny("b", {"eval_start_step=3"}));
  EXPECT_THAT(steps("b"), ElementsAre(4, 6));
  train(tiny("c", {"eval_interval=4"}));
  EXPECT_THAT(steps("c"), ElementsAre(4, 6));  // as without the key: the last step too
}

TEST_F(EvaluationRunTest, ALowLossEndsTheRun) {
  const std::string said = train(tiny("a", {"target_eval_loss=5.3"}));
  ASSERT_TRUE(result_->ok()) << result_->status().message();
  EXPECT_EQ((*result_)->outcome, RunResult::Outcome::target_reached) << said;
  EXPECT_LT((*result_)->step, 6);
  EXPECT_THAT(said, HasSubstr("Training stopped: Target loss self.config.target_eval_loss=5.3 is "
                              "achieved."));
  EXPECT_TRUE(file_exists((*result_)->checkpoint));
  train(tiny("b", {"target_eval_loss=0.1"}));
  EXPECT_EQ((*result_)->outcome, RunResult::Outcome::done);
}

TEST_F(EvaluationRunTest, MistakesAreNamed) {
  train(tiny("a", {"eval_files=" + folder_ + "/nothing*.txt"}));
  EXPECT_THAT(result_->status().message(), testing::StartsWith("eval_files: "));
  std::ofstream(folder_ + "/short.txt") << "";
  train(tiny("a", {"eval_files=" + folder_ + "/short.txt"}));
  EXPECT_THAT(result_->status().message(), HasSubstr("eval_files"));
  const auto message = [&](const std::vector<std::string>& more) {
    try {
      (void)tiny("a", more);
    } catch (const ConfigError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(message({"eval_interval=0", "target_eval_loss=3"}),
              HasSubstr("target_eval_loss=3: it needs evaluations: set eval_interval"));
  EXPECT_THAT(message({"eval_files="}),
              HasSubstr("eval_data_columns=body: it is of eval_files, and there are none"));
  EXPECT_THAT(message({"eval_data_columns=messages"}),
              HasSubstr("eval_data_columns=messages: conversations are evaluated where"));
}

}  // namespace
}  // namespace strata::train
