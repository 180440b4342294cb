// Any step of a run, computed again: the bits that the run had, whatever the run was.
#include "strata/train/replay.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "strata/api/sharding/devices.h"
#include "strata/base/file.h"
#include "strata/checkpoint/any_format.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/train/configurations.h"
#include "strata/train/run.h"
#include "strata/train/state.h"

namespace strata::train {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Keys = std::vector<std::string>;

class ReplayTest : public testing::Test {
 protected:
  ReplayTest() {
    compile::register_cpu();
    // In memory where that can be had: each save syncs its files.
    const std::string memory = "/dev/shm/";
    std::string name = (fs::exists(memory) ? memory : testing::TempDir()) + "replay_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    std::ofstream text(folder_ + "/text.txt");
    for (int i = 0; i < 300; ++i) text << "verse " << i * i % 97 << " of a little book.\n";
  }
  ~ReplayTest() override { fs::remove_all(folder_); }

  /// Later keys replace earlier ones.
  Config config(const Keys& more) const {
    Keys keys = {"train_files=" + folder_ + "/text.txt",
                 "base_output_directory=" + folder_,
                 "run_name=run",
                 "steps=14",
                 "checkpoint_period=1",
                 "max_num_checkpoints_to_keep=0",
                 "eval_interval=0",
                 "learning_rate=1e-2",
                 "log_period=100",
                 "max_target_length=8"};
    keys.insert(keys.end(), more.begin(), more.end());
    return read_config({}, keys);
  }
  template <class F>
  auto quietly(F&& f) const {
    const int quiet = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    Progress progress(quiet);
    auto out = f(progress);
    ::close(quiet);
    return out;
  }
  Result<RunResult> train(const Keys& keys) const {
    return quietly([&](Progress& p) { return run(config(keys), p); });
  }
  Result<Replayed> again(std::int64_t step) const {
    return quietly([&](Progress& p) { return replay(folder_ + "/run", step, p); });
  }
  /// The message of a replay that is refused.
  std::string refused(std::int64_t step) const {
    const auto r = again(step);
    return r ? fmt::format("step {} was computed", step) : r.status().message();
  }
  /// Holds every save of the run aside, and leaves these alone to it.
  void leave(const std::set<std::int64_t>& left) const {
    const std::string root = folder_ + "/run/checkpoints";
    fs::copy(root, folder_ + "/all", fs::copy_options::recursive);
    for (const auto& [step, at] : checkpoint::any_format::steps(root).value())
      if (!left.count(step)) fs::remove_all(at);
  }
  /// The bits and notes that the run had.
  void expect_had(const checkpoint::Checkpoint& c) const {
    const auto had = checkpoint::any_format::load(fmt::format("{}/all/{}", folder_, c.step));
    ASSERT_TRUE(had.ok()) << had.status().message();
    ASSERT_EQ(c.parts.size(), had->parts.size());
    for (const auto& [part, tensors] : had->parts) {
      ASSERT_EQ(c.parts.at(part).size(), tensors.size());
      for (const auto& [name, t] : tensors)
        EXPECT_TRUE(c.parts.at(part).at(name).same_bits(t))
            << "step " << c.step << ", " << part << " " << name;
    }
    for (const char* note : {"data", "loss", "config"})
      EXPECT_EQ(c.notes.at(note), had->notes.at(note)) << note;
  }
  /// A run that keeps every step; then most of them are taken away, and ten chosen at random are
  /// computed again from those that are left.
  void check(const Keys& keys, unsigned seed) const {
    const auto whole = train(keys);
    ASSERT_TRUE(whole.ok()) << whole.status().message();
    leave({5, 10, 14});
    std::set<std::int64_t> chosen;
    for (std::mt19937 draw(seed); chosen.size() < 10;)
      chosen.insert(static_cast<std::int64_t>(1 + draw() % 14));
    for (const std::int64_t step : chosen) {
      const auto replayed = again(step);
      ASSERT_TRUE(replayed.ok()) << replayed.status().message();
      EXPECT_EQ(replayed->steps, step - (step < 5 ? 0 : step < 10 ? 5 : step < 14 ? 10 : 14));
      EXPECT_EQ(replayed->unchecked, 0);
      expect_had(replayed->checkpoint);
    }
  }
  std::string notes() const { return folder_ + "/run/configurations.jsonl"; }
  std::string metrics() const { return folder_ + "/run/metrics/metrics.jsonl"; }
  /// Writes the run's metrics with each line as `f` has it, which may be empty.
  template <class F>
  void edit_metrics(F&& f) const {
    std::istringstream lines(read_file(metrics()).value());
    std::ofstream out(metrics());
    for (std::string line; std::getline(lines, line);) out << f(line);
  }
  std::string folder_;
};

const Keys kTiny = {
    "base_emb_dim=16", "base_num_query_heads=8",    "base_num_kv_heads=8",    "head_dim=2",
    "base_mlp_dim=32", "base_num_decoder_layers=2", "per_device_batch_size=8"};

Keys with(Keys more) {
  more.insert(more.end(), kTiny.begin(), kTiny.end());
  return more;
}

TEST_F(ReplayTest, TenStepsOfARunThatAccumulates) {
  check(with({"gradient_accumulation_steps=2"}), 1);
}

TEST_F(ReplayTest, TenStepsOfARunOfAdapters) {
  const std::string base = (fs::path(__FILE__).parent_path() / "testdata/tuning").string();
  check({"init=" + base, "lora.rank=4", "lora.alpha=8", "per_device_batch_size=2",
         "lr_schedule_type=constant", "gradient_accumulation_steps=2"},
        3);
}

TEST_F(ReplayTest, TenStepsOfARunOverAMesh) {
  cpu_devices(8);
  check(with({"ici_fsdp_parallelism=4", "ici_tensor_parallelism=2", "per_device_batch_size=1"}), 2);
}

/// A model of which a run of tens of steps takes less than a second.
Keys small(Keys more = {}) {
  more.insert(more.begin(),
              {"base_emb_dim=8", "base_num_query_heads=2", "base_num_kv_heads=2", "head_dim=4",
               "base_mlp_dim=8", "base_num_decoder_layers=1", "per_device_batch_size=2"});
  return more;
}

TEST_F(ReplayTest, OtherDataIsRefusedBeforeTheFirstSaveToo) {
  const std::string books = folder_ + "/books";
  fs::create_directory(books);
  fs::copy(folder_ + "/text.txt", books + "/text.txt");
  std::ofstream(books + "/more.txt") << "Another book, of one line that is not short.\n";
  const Keys keys = small({fmt::format("train_files={}/*.txt", books)});
  ASSERT_TRUE(train(keys).ok());
  leave({7, 14});
  expect_had(again(3)->checkpoint);
  fs::rename(books + "/more.txt", folder_ + "/more.txt");
  for (const std::int64_t step : {3, 9})  // from the first weights, and from a save
    EXPECT_THAT(refused(step), HasSubstr(fmt::format("the data is not what the run read from step "
                                                     "{} on: books: tokens is",
                                                     step < 7 ? 0 : 7)));
  // Where the run noted nothing, its saves tell.
  fs::remove(notes());
  for (const std::int64_t step : {3, 9})
    EXPECT_THAT(refused(step), HasSubstr("the data is not what the run read for its save of step "
                                         "7: books: tokens is"));
  // Where no save is left the steps' own figures tell.
  fs::remove_all(folder_ + "/run/checkpoints");
  EXPECT_THAT(refused(3), HasSubstr("is not the one that its metrics tell of: learning/lm_loss"));
}

TEST_F(ReplayTest, AStepThatIsNotThatOfTheMetricsIsRefused) {
  ASSERT_TRUE(train(small()).ok());
  leave({5, 14});
  const std::string whole = read_file(metrics()).value(), key = "\"learning/lm_loss\":";
  edit_metrics([&](std::string line) {
    if (line.starts_with("{\"step\":7,")) line.insert(line.find(key) + key.size(), "1");
    return line + "\n";
  });
  EXPECT_THAT(refused(9), HasSubstr("step 7 is not the one that its metrics tell of: "
                                    "learning/lm_loss is 5."));
  EXPECT_THAT(refused(9), HasSubstr("(the run had 15."));
  expect_had(again(6)->checkpoint);
  // A line that was cut by a kill and taken again counts once it is the run's.
  std::ofstream(metrics(), std::ios::app) << whole;
  expect_had(again(9)->checkpoint);
  // What nothing tells of is computed, and counted.
  edit_metrics(
      [&](const std::string& line) { return line.starts_with("{\"step\":8,") ? "" : line + "\n"; });
  EXPECT_EQ(again(9)->unchecked, 1);
  fs::remove(metrics());
  EXPECT_EQ(again(9)->unchecked, 4);
  EXPECT_EQ(again(9)->steps, 4);
}

TEST_F(ReplayTest, EachStepIsTakenUnderTheConfigurationThatTheRunHadThen) {
  ASSERT_TRUE(train(small({"steps=6"})).ok());
  ASSERT_TRUE(train(small({"steps=10", "learning_rate=2e-2"})).ok());
  ASSERT_TRUE(train(small({"steps=14", "gradient_accumulation_steps=2"})).ok());
  leave({3, 14});
  for (const std::int64_t step : {0, 1, 3, 6, 7, 10, 13}) {
    const auto r = again(step);
    ASSERT_TRUE(r.ok()) << r.status().message();
    EXPECT_EQ(r->unchecked, 0);
    if (step > 0) expect_had(r->checkpoint);
  }
  EXPECT_EQ(config_of(again(0)->checkpoint).steps, 6);
  EXPECT_EQ(read_configurations(folder_ + "/run")->size(), 3u);
  // What is no note is refused; a run that goes on begins anew.
  std::ofstream(notes(), std::ios::app) << "{\n";
  EXPECT_THAT(refused(6), HasSubstr("configurations.jsonl: line 4 is no object"));
  ASSERT_TRUE(train(small({"steps=14"})).ok());
  EXPECT_EQ(read_configurations(folder_ + "/run")->at(0).from, 14);
  EXPECT_THAT(refused(5), HasSubstr("batch is 4 (the checkpoint has 2)"));  // that of step 14
}

TEST_F(ReplayTest, ARunThatGoesBackForgetsWhatItTookUnderOtherKeys) {
  ASSERT_TRUE(train(small({"steps=6"})).ok());
  ASSERT_TRUE(train(small({"steps=6", "log_period=7"})).ok());  // no step
  ASSERT_TRUE(train(small({"steps=10"})).ok());
  for (const int step : {7, 8, 9, 10})
    fs::remove_all(fmt::format("{}/run/checkpoints/{}", folder_, step));
  ASSERT_TRUE(train(small({"steps=14"})).ok());
  const auto noted = read_configurations(folder_ + "/run");
  ASSERT_EQ(noted->size(), 2u);
  EXPECT_EQ(noted->at(1).from, 6);
  leave({14});
  for (const std::int64_t step : {6, 9}) expect_had(again(step)->checkpoint);
  // The same keys again change nothing, as a kill does not.
  const std::string whole = read_file(notes()).value();
  fs::remove_all(folder_ + "/run/checkpoints/14");
  fs::copy(folder_ + "/all/11", folder_ + "/run/checkpoints/11", fs::copy_options::recursive);
  ASSERT_TRUE(train(small({"steps=14"})).ok());
  EXPECT_EQ(read_file(notes()).value(), whole);
  expect_had(again(13)->checkpoint);
}

TEST_F(ReplayTest, DataThatChangedWhenTheRunWentOnIsNoted) {
  ASSERT_TRUE(train(small({"steps=14", "max_seconds=1e-9"})).ok());  // one step
  std::ofstream(folder_ + "/text.txt", std::ios::app) << "A verse that was found later.\n";
  ASSERT_TRUE(train(small({"steps=14", "max_seconds=1e-9"})).ok());
  ASSERT_TRUE(train(small({"steps=14"})).ok());
  ASSERT_EQ(read_configurations(folder_ + "/run")->size(), 3u);
  leave({1, 14});
  expect_had(again(9)->checkpoint);  // from a save that other data made
  fs::remove_all(folder_ + "/run/checkpoints/1");
  EXPECT_THAT(refused(9),
              HasSubstr("the data is not what the run read from step 0 on: text: tokens"));
}

TEST_F(ReplayTest, StepsThatWereTakenUnderOtherKeysAreRefused) {
  ASSERT_TRUE(train(small({"steps=6"})).ok());
  ASSERT_TRUE(train(small({"steps=14"})).ok());
  leave({14});
  fs::remove(notes());  // as earlier releases left a run
  // The weights behind step 1 are others already, though its loss is the same.
  EXPECT_THAT(refused(1), HasSubstr("step 1 is not the one that its metrics tell of"));
}

}  // namespace
}  // namespace strata::train
