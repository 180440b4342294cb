#include "strata/train/run.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "strata/base/file.h"
#include "strata/base/thread_pool.h"
#include "strata/checkpoint/checkpoint.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/train/evaluate/generate.h"
#include "strata/train/report/events.h"
#include "strata/train/report/metrics.h"

namespace strata::train {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class RunTest : public testing::Test {
 protected:
  RunTest() {
    compile::register_cpu();
    std::string name = testing::TempDir() + "run_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    std::string text;
    for (int i = 0; i < 400; ++i)
      text += "verse " + std::to_string(i * i % 97) + " of a little book.\n";
    std::ofstream(folder_ + "/text.txt") << text;
  }
  ~RunTest() override {
    set_num_threads(0);
    fs::remove_all(folder_);
  }
  /// A model of a few thousand weights.
  Config tiny(const std::string& name, std::vector<std::string> more = {}) const {
    std::vector<std::string> keys = {"base_emb_dim=16",
                                     "base_num_query_heads=2",
                                     "base_num_kv_heads=1",
                                     "head_dim=8",
                                     "base_mlp_dim=24",
                                     "base_num_decoder_layers=2",
                                     "max_target_length=24",
                                     "per_device_batch_size=3",
                                     "steps=6",
                                     "checkpoint_period=2",
                                     "eval_interval=3",
                                     "eval_steps=2",
                                     "learning_rate=1e-2",
                                     "train_files=" + folder_ + "/text.txt",
                                     "base_output_directory=" + folder_,
                                     "run_name=" + name};
    keys.insert(keys.end(), more.begin(), more.end());
    return read_config({}, keys);
  }
  Result<RunResult> train(const Config& c) {
    const int quiet = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    Progress progress(quiet);
    auto result = run(c, progress);
    ::close(quiet);
    return result;
  }
  /// Steps and losses as written, without times.
  std::vector<std::string> losses(const std::string& name) const {
    std::vector<std::string> out;
    std::ifstream in(folder_ + "/" + name + "/metrics/metrics.jsonl");
    for (std::string line; std::getline(in, line);)
      out.push_back(line.substr(0, std::min(line.find(",\"perf/"), line.size())));
    return out;
  }
  bool same_weights(const std::string& a, const std::string& b, std::int64_t step) const {
    auto left = checkpoint::load(fmt::format("{}/{}/checkpoints/{}", folder_, a, step)),
         right = checkpoint::load(fmt::format("{}/{}/checkpoints/{}", folder_, b, step));
    if (!left || !right || left->parts.size() != right->parts.size()) return false;
    for (const auto& [part, tensors] : left->parts) {
      for (const auto& [name, tensor] : tensors) {
        if (!tensor.same_bits(right->parts.at(part).at(name))) return false;
      }
    }
    return true;
  }
  std::string folder_;
};

TEST_F(RunTest, LearnsAndKeepsARecord) {
  auto r = train(tiny("a", {"steps=40", "checkpoint_period=100", "eval_interval=0"}));
  ASSERT_TRUE(r.ok()) << r.status().message();
  EXPECT_EQ(r->outcome, RunResult::Outcome::done);
  EXPECT_EQ(r->step, 40);
  EXPECT_LT(r->loss, 4.5f);  // ln 256 is 5.55
  EXPECT_EQ(r->checkpoint, folder_ + "/a/checkpoints/40");
  EXPECT_EQ(losses("a").size(), 40u);
  EXPECT_EQ(to_yaml(read_config(folder_ + "/a/config.yml", {})),
            to_yaml(tiny("a", {"steps=40", "checkpoint_period=100", "eval_interval=0"})));
}

TEST_F(RunTest, ResumingAfterAnyStepGivesTheSameBits) {
  ASSERT_TRUE(train(tiny("whole")).ok());
  ASSERT_TRUE(train(tiny("broken", {"max_seconds=1e-9"})).ok());  // one step, saved
  EXPECT_EQ(losses("broken").size(), 1u);
  auto second = train(tiny("broken", {"max_seconds=1e-9"}));
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->outcome, RunResult::Outcome::time_over);
  EXPECT_EQ(second->step, 2);
  auto last = train(tiny("broken"));
  ASSERT_TRUE(last.ok()) << last.status().message();
  EXPECT_EQ(last->step, 6);
  EXPECT_EQ(losses("broken"), losses("whole"));
  EXPECT_TRUE(same_weights("whole", "broken", 6));
}

TEST_F(RunTest, SoDoOtherOptimizersTypesAndParts) {
  int number = 0;
  for (std::vector<std::string> keys :
       {std::vector<std::string>{"opt_type=sgd", "gradient_accumulation_steps=3",
                                 "per_device_batch_size=1"},
        {"weight_dtype=bfloat16", "lr_pieces=linear 0 -> 1e-2 over 2, constant"},
        {"mu_dtype=bfloat16", "z_loss_multiplier=0.01", "gradient_accumulation_steps=3",
         "per_device_batch_size=1", "trainable_parameters_mask=*query;*norm*"},
        {"opt_type=muon", "mu_dtype=bfloat16",
         "optimizer.muon_weight_dimension_numbers=[{match: [layers/query, layers/out], "
         "reduction_axis: [-2], output_axis: [-1]}]"}}) {
    const std::string name = fmt::format("{}", number++);
    ASSERT_TRUE(train(tiny(name + "whole", keys)).ok());
    keys.push_back("max_seconds=1e-9");
    auto first = train(tiny(name + "broken", keys));
    ASSERT_TRUE(first.ok()) << first.status().message();
    EXPECT_EQ(first->step, 1);
    keys.pop_back();
    auto rest = train(tiny(name + "broken", keys));
    ASSERT_TRUE(rest.ok()) << rest.status().message();
    EXPECT_EQ(losses(name + "broken"), losses(name + "whole"));
    EXPECT_TRUE(same_weights(name + "whole", name + "broken", 6));
  }
}

TEST_F(RunTest, EventsAndLinesTellTheSame) {
  auto first = train(tiny("a", {"max_seconds=1e-9"}));
  auto rest = train(tiny("a"));
  ASSERT_TRUE(rest.ok()) << rest.status().message();
  auto lines = read_metrics(metrics_path(tiny("a")));
  auto bytes = read_file(fs::directory_iterator(folder_ + "/a/tensorboard")->path());
  ASSERT_TRUE(lines.ok() && bytes.ok());
  const EventFile file = read_events(*bytes, "events");
  ASSERT_TRUE(file.damage.ok()) << file.damage.message();
  ASSERT_EQ(file.events.size(), lines->size() + 1);  // the version
  for (std::size_t i = 0; i < lines->size(); ++i) {
    const Event& e = file.events[i + 1];
    EXPECT_EQ(e.step, (*lines)[i].step);
    for (const auto& [name, value] : e.scalars)
      EXPECT_EQ(static_cast<float>((*lines)[i].values.at(name)), value) << name;
  }
  EXPECT_EQ((*lines)[2].step, 3);
  EXPECT_TRUE((*lines)[3].values.contains("eval/text/loss"));
  EXPECT_NEAR((*lines)[3].values.at("eval/text/loss"),
              (*lines)[3].values.at("eval/text/loss_per_byte"), 1e-6);  // tokens are bytes
  EXPECT_GT((*lines)[0].values.at("learning/grad_norm"), 0);
  EXPECT_TRUE(file_exists(rest->curve));
}

TEST_F(RunTest, TheZLossIsInTheLossAndTold) {
  const auto first = [&](const std::string& multiplier) {
    const Config c =
        tiny(multiplier, {"z_loss_multiplier=" + multiplier, "steps=1", "eval_interval=1"});
    EXPECT_TRUE(train(c).ok());
    return read_metrics(metrics_path(c)).value();
  };
  const auto plain = first("0"), with = first("0.25");
  EXPECT_FALSE(plain[0].values.contains("learning/z_loss"));
  EXPECT_FALSE(plain[1].values.contains("eval/avg_z_loss"));
  const double z = with[0].values.at("learning/z_loss");
  EXPECT_GT(z, 0.25 * std::log(256) * std::log(256));  // the least there is of a mean logit of 0
  for (const char* loss : {"learning/loss", "learning/lm_loss"})
    EXPECT_NEAR(with[0].values.at(loss), plain[0].values.at(loss) + z, 1e-5);
  EXPECT_NEAR(with[1].values.at("eval/avg_z_loss"), z, 1);
  EXPECT_GT(with[1].values.at("eval/avg_loss"), z);
}

TEST_F(RunTest, ThreadsDoNotChangeBits) {
  for (int threads : {1, 2, 3}) {
    set_num_threads(threads);
    ASSERT_TRUE(train(tiny("threads" + std::to_string(threads))).ok());
  }
  EXPECT_TRUE(same_weights("threads1", "threads2", 6));
  EXPECT_TRUE(same_weights("threads1", "threads3", 6));
  EXPECT_EQ(losses("threads1"), losses("threads3"));
}

// Where a part has a multiple of 256 tokens (docs/configuration.md).
TEST_F(RunTest, AccumulationDoesNotChangeBits) {
  for (const std::string parts : {"1", "2", "4"}) {
    const std::string batch = parts == "1" ? "4" : parts == "2" ? "2" : "1";
    ASSERT_TRUE(train(tiny("parts" + parts,
                           {"gradient_accumulation_steps=" + parts, "steps=2", "eval_interval=0",
                            "per_device_batch_size=" + batch, "max_target_length=256"}))
                    .ok());
  }
  EXPECT_TRUE(same_weights("parts1", "parts2", 2));
  EXPECT_TRUE(same_weights("parts1", "parts4", 2));
}

TEST_F(RunTest, SavingDoesNotChangeBits) {
  const std::vector<std::string> all = {"max_num_checkpoints_to_keep=0", "checkpoint_period=1"};
  ASSERT_TRUE(train(tiny("beside", all)).ok());
  ASSERT_TRUE(train(tiny("between", {all[0], all[1], "async_checkpointing=false"})).ok());
  ASSERT_TRUE(train(tiny("seldom", {"checkpoint_period=100"})).ok());
  for (std::int64_t step = 1; step <= 6; ++step)
    EXPECT_TRUE(same_weights("beside", "between", step)) << step;
  EXPECT_TRUE(same_weights("beside", "seldom", 6));
  EXPECT_EQ(losses("beside"), losses("between"));
  EXPECT_EQ(losses("beside"), losses("seldom"));
}

TEST_F(RunTest, KeepsTheLastAndEveryKth) {
  ASSERT_TRUE(train(tiny("a", {"steps=7", "checkpoint_period=1", "max_num_checkpoints_to_keep=2",
                               "keep_period=3"}))
                  .ok());
  EXPECT_THAT(*checkpoint::steps(folder_ + "/a/checkpoints"), testing::ElementsAre(3, 6, 7));
}

TEST_F(RunTest, AFinishedRunIsNotRunAgain) {
  auto first = train(tiny("a"));
  ASSERT_TRUE(first.ok()) << first.status().message();
  const auto before = losses("a");
  auto again = train(tiny("a"));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->step, 6);
  EXPECT_EQ(again->loss, first->loss);
  EXPECT_EQ(losses("a"), before);
}

TEST_F(RunTest, ADamagedCheckpointCostsItsStepsOnly) {
  ASSERT_TRUE(train(tiny("whole")).ok());
  ASSERT_TRUE(train(tiny("hurt")).ok());
  fs::resize_file(folder_ + "/hurt/checkpoints/6/optimizer.safetensors", 100);
  auto r = train(tiny("hurt"));
  ASSERT_TRUE(r.ok()) << r.status().message();
  EXPECT_EQ(losses("hurt"), losses("whole"));
  EXPECT_TRUE(same_weights("whole", "hurt", 6));
}

TEST_F(RunTest, WithoutAWholeCheckpointNothingIsOverwritten) {
  ASSERT_TRUE(train(tiny("a", {"max_num_checkpoints_to_keep=1"})).ok());
  fs::remove(folder_ + "/a/checkpoints/6/manifest.json");
  EXPECT_THAT(train(tiny("a")).status().message(), HasSubstr("no checkpoint is whole"));
}

TEST_F(RunTest, AnotherModelIsRefusedByItsKeys) {
  ASSERT_TRUE(train(tiny("a", {"steps=1"})).ok());
  try {
    (void)train(tiny("a", {"base_mlp_dim=32"})).ok();
    FAIL() << "accepted";
  } catch (const ConfigError& e) {
    EXPECT_THAT(e.what(), HasSubstr("base_mlp_dim=32 (the checkpoint has 24)"));
  }
}

TEST_F(RunTest, ALossThatIsNoNumberStopsTheRun) {
  auto r = train(
      tiny("a", {"learning_rate=100", "adam_weight_decay=100", "gradient_clipping_threshold=0",
                 "warmup_steps_fraction=0", "steps=60", "eval_interval=0"}));
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->outcome, RunResult::Outcome::diverged);
  EXPECT_LT(r->step, 60);
  EXPECT_THAT(r->trouble, HasSubstr("not finite"));
}

TEST_F(RunTest, ALossThatIsNoNumberNamesWhatWentBadFirst) {
  auto r = train(tiny("a", {"learning_rate=100", "adam_weight_decay=100", "warmup_steps_fraction=0",
                            "steps=60", "eval_interval=0"}));
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->outcome, RunResult::Outcome::diverged);
  EXPECT_THAT(r->trouble, HasSubstr("going back from the loss, the gradient of layers/"));
}

TEST_F(RunTest, TextsThatDoNotFitAreRefused) {
  std::ofstream(folder_ + "/short.txt") << "short";
  EXPECT_THAT(train(tiny("a", {"train_files=" + folder_ + "/short.txt"})).status().message(),
              HasSubstr("the text is too short"));
  EXPECT_THAT(train(tiny("a", {"eval_fraction=0.00001"})).status().message(),
              HasSubstr("eval_fraction=1e-05: the text is too short"));
  EXPECT_THAT(train(tiny("a", {"train_files=" + folder_ + "/absent.txt"})).status().message(),
              HasSubstr("absent.txt: cannot open"));
}

TEST_F(RunTest, ASecondProcessIsRefused) {
  ASSERT_TRUE(make_folders(folder_ + "/a").ok());
  auto held = FileLock::take(folder_ + "/a/lock");
  EXPECT_EQ(train(tiny("a")).status().code(), Code::exists);
}

TEST_F(RunTest, LinesOfStepsThatAreLostAreTakenAway) {
  ASSERT_TRUE(train(tiny("whole", {"eval_interval=0"})).ok());
  ASSERT_TRUE(train(tiny("a", {"eval_interval=0"})).ok());
  fs::remove_all(folder_ + "/a/checkpoints/6");
  std::ofstream(folder_ + "/a/metrics/metrics.jsonl", std::ios::app) << "{\"step\":7,\"lo";
  ASSERT_TRUE(train(tiny("a", {"eval_interval=0"})).ok());
  EXPECT_EQ(losses("a"), losses("whole"));
}

TEST_F(RunTest, GeneratedTextDependsOnTheSeedOnly) {
  ASSERT_TRUE(train(tiny("a")).ok());
  auto text = [&](std::uint64_t seed, double temperature) {
    auto generator = Generator::load(folder_ + "/a");
    std::string out;
    generator->generate(
        "verse", {.max_tokens = 40, .temperature = temperature, .seed = seed, .ignore_eos = true},
        [&](std::string_view piece) { out += piece; });
    return out;
  };
  EXPECT_GE(text(1, 1.0).size(), 40u);
  EXPECT_EQ(text(1, 1.0), text(1, 1.0));
  EXPECT_NE(text(1, 1.0), text(2, 1.0));
  EXPECT_EQ(text(1, 0), text(2, 0));
  EXPECT_THAT(Generator::load(folder_ + "/b").status().message(), HasSubstr("no checkpoint there"));
}

}  // namespace
}  // namespace strata::train
