// Runs whose folder is in a bucket, and weights that are frozen.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "strata/base/progress.h"
#include "strata/checkpoint/checkpoint.h"
#include "strata/checkpoint/testing/memory_bucket.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/train/replay.h"
#include "strata/train/report/metrics.h"
#include "strata/train/run.h"

namespace strata::train {
namespace {

using checkpoint::testing_buckets::new_bucket;
using testing::ElementsAre;
namespace fs = std::filesystem;

class BucketRun : public testing::Test {
 protected:
  BucketRun() {
    compile::register_cpu();
    std::string name = testing::TempDir() + "bucket_run_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    std::ofstream text(folder_ + "/text.txt");
    for (int i = 0; i < 60; ++i) text << "the " << i * i << " cats sat on mat " << i % 7 << ".\n";
  }
  ~BucketRun() override { fs::remove_all(folder_); }
  Config tiny(const std::string& where, const std::string& name,
              std::vector<std::string> more = {}) const {
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
                                     "eval_interval=0",
                                     "learning_rate=1e-2",
                                     "train_files=" + folder_ + "/text.txt",
                                     "base_output_directory=" + where,
                                     "run_name=" + name};
    keys.insert(keys.end(), more.begin(), more.end());
    return read_config({}, keys);
  }
  template <class F>
  auto quietly(F&& f) {
    const int quiet = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    Progress progress(quiet);
    auto result = f(progress);
    ::close(quiet);
    return result;
  }
  Result<RunResult> train(const Config& c) {
    return quietly([&](Progress& p) { return run(c, p); });
  }
  static void expect_same(const checkpoint::Checkpoint& a, const checkpoint::Checkpoint& b) {
    ASSERT_EQ(a.parts.size(), b.parts.size());
    for (const auto& [part, tensors] : a.parts)
      for (const auto& [name, t] : tensors)
        EXPECT_TRUE(t.same_bits(b.parts.at(part).at(name))) << part << " " << name;
  }
  std::string folder_;
};

TEST_F(BucketRun, HasTheBitsAndTheRecordOfOneOnADisk) {
  const auto bucket = new_bucket();
  ASSERT_TRUE(train(tiny(folder_, "disk")).ok());
  auto first = train(tiny("mem://b/runs", "a", {"max_seconds=1e-9"}));  // one step, saved
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_EQ(first->checkpoint, "mem://b/runs/a/checkpoints/1");
  auto rest = train(tiny("mem://b/runs", "a"));
  ASSERT_TRUE(rest.ok()) << rest.status().message();
  EXPECT_EQ(rest->step, 6);
  expect_same(*checkpoint::load("mem://b/runs/a/checkpoints/6"),
              *checkpoint::load(folder_ + "/disk/checkpoints/6"));
  const auto there = *read_metrics("mem://b/runs/a/metrics/metrics.jsonl"),
             here = *read_metrics(folder_ + "/disk/metrics/metrics.jsonl");
  ASSERT_EQ(there.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(there[i].values.at("learning/loss"), here[i].values.at("learning/loss"));
  EXPECT_TRUE(bucket->objects.count("runs/a/config.yml"));
  EXPECT_TRUE(bucket->objects.count("runs/a/configurations.jsonl"));
  EXPECT_TRUE(bucket->objects.count("runs/a/loss.png"));
  EXPECT_TRUE(bucket->objects.count("runs/a/tensorboard/events.out.tfevents.0.strata"));
  // Every step of it can be computed again, and old ones are removed.
  auto third = quietly([](Progress& p) { return replay("mem://b/runs/a", 3, p); });
  ASSERT_TRUE(third.ok()) << third.status().message();
  EXPECT_EQ(third->checkpoint.step, 3);
  EXPECT_EQ(third->unchecked, 0);  // its metrics are in the bucket
  ASSERT_TRUE(train(tiny("mem://b/runs", "a", {"steps=8", "max_num_checkpoints_to_keep=2"})).ok());
  EXPECT_THAT(*checkpoint::steps("mem://b/runs/a/checkpoints"), ElementsAre(6, 8));
}

TEST_F(BucketRun, WhoseRequestsFailGoesOnFromWhatIsWhole) {
  const auto bucket = new_bucket();
  ASSERT_TRUE(train(tiny("mem://b/runs", "whole")).ok());
  const int most = bucket->requests;
  const auto wanted = *checkpoint::load("mem://b/runs/whole/checkpoints/6");
  for (int k = 1; k < most; k += 1 + most / 6) {
    const auto other = new_bucket();
    other->fails_from = k;
    other->answer_lost = k % 2 == 0;
    EXPECT_FALSE(train(tiny("mem://b/runs", "a")).ok()) << k;
    other->fails_from = -1;
    auto rest = train(tiny("mem://b/runs", "a"));
    ASSERT_TRUE(rest.ok()) << k << " " << rest.status().message();
    expect_same(*checkpoint::load("mem://b/runs/a/checkpoints/6"), wanted);
    EXPECT_EQ(read_metrics("mem://b/runs/a/metrics/metrics.jsonl")->size(), 6u) << k;
  }
}

TEST_F(BucketRun, FrozenWeightsAreWrittenOnceAndReplayed) {
  const std::vector<std::string> frozen = {
      "optimizer.groups=[{match: '*token_embedder*', frozen: true}]", "async_checkpointing=false"};
  ASSERT_TRUE(train(tiny(folder_, "frozen", frozen)).ok());
  const std::string root = folder_ + "/frozen/checkpoints";
  std::uint64_t chunk = 0, file = 0, all = 0;
  for (const auto& entry : fs::directory_iterator(root + "/chunks"))
    chunk = std::max<std::uint64_t>(chunk, entry.file_size());
  const auto fourth = *checkpoint::load(root, 4);
  for (const auto& [name, t] : fourth.parts.at("params")) all += t.bytes();
  EXPECT_GE(chunk, checkpoint::kLeastChunk);
  for (int step : {2, 4, 6}) {  // the first, too, since the run said that they stay
    file = fs::file_size(fmt::format("{}/{}/params.safetensors", root, step));
    EXPECT_LT(file, all - chunk + 4096) << step;
  }
  auto again = quietly([&](Progress& p) { return replay(folder_ + "/frozen", 5, p); });
  ASSERT_TRUE(again.ok()) << again.status().message();
  auto rest = train(tiny(folder_, "frozen", {frozen[0], frozen[1], "steps=7"}));
  ASSERT_TRUE(rest.ok()) << rest.status().message();
}

TEST_F(BucketRun, GoesOnFromTheNewestOfBothTiers) {
  const std::vector<std::string> tiers = {"enable_emergency_checkpoint=true",
                                          "local_checkpoint_directory=" + folder_ + "/memory",
                                          "local_checkpoint_period=1", "checkpoint_period=100"};
  ASSERT_TRUE(train(tiny(folder_, "whole")).ok());
  auto with = tiers;
  with.push_back("max_seconds=1e-9");
  ASSERT_TRUE(train(tiny(folder_, "tiered", with)).ok());  // a step, of which the end is lasting
  ASSERT_TRUE(train(tiny(folder_, "tiered", with)).ok());
  const std::string local = folder_ + "/memory/tiered/0", root = folder_ + "/tiered/checkpoints";
  EXPECT_THAT(*checkpoint::steps(root), ElementsAre(1, 2));
  // Of a process that was killed later the local one is newer.
  fs::create_directories(local);
  if (!fs::exists(local + "/2")) fs::rename(root + "/2", local + "/2");
  fs::remove_all(root + "/2");
  auto rest = train(tiny(folder_, "tiered", tiers));
  ASSERT_TRUE(rest.ok()) << rest.status().message();
  EXPECT_THAT(*checkpoint::steps(root), ElementsAre(1, 6));
  expect_same(*checkpoint::load(root, 6), *checkpoint::load(folder_ + "/whole/checkpoints", 6));
  EXPECT_EQ(read_metrics(folder_ + "/tiered/metrics/metrics.jsonl")->size(), 6u);
  EXPECT_THROW((void)tiny(folder_, "x", {"enable_emergency_checkpoint=true"}), ConfigError);
}

}  // namespace
}  // namespace strata::train
