// Runs that save as Orbax: they go on with the same bits from either format, and whatever fails
// while they save.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "strata/base/file.h"
#include "strata/base/file_faults.h"
#include "strata/checkpoint/any_format.h"
#include "strata/checkpoint/orbax/directory.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/train/evaluate/generate.h"
#include "strata/train/replay.h"
#include "strata/train/run.h"

namespace strata::train {
namespace {

using checkpoint::any_format::Format;
using testing::ElementsAre;
using testing::HasSubstr;
namespace any_format = checkpoint::any_format;
namespace fs = std::filesystem;

class OrbaxRunTest : public testing::Test {
 protected:
  OrbaxRunTest() {
    compile::register_cpu();
    // In memory where that can be had: a save syncs each of its files.
    const std::string memory = "/dev/shm/";
    std::string name = (fs::exists(memory) ? memory : testing::TempDir()) + "orbax_run_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    std::string text;
    for (int i = 0; i < 300; ++i)
      text += "verse " + std::to_string(i * i % 97) + " of a little book.\n";
    std::ofstream(folder_ + "/text.txt") << text;
  }
  ~OrbaxRunTest() override {
    testing_hooks::set_io_fault({});
    fs::remove_all(folder_);
  }
  Config tiny(const std::string& name, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> keys = {"base_emb_dim=8",
                                     "base_num_query_heads=1",
                                     "base_num_kv_heads=1",
                                     "head_dim=8",
                                     "base_mlp_dim=16",
                                     "base_num_decoder_layers=1",
                                     "max_target_length=16",
                                     "per_device_batch_size=2",
                                     "steps=4",
                                     "checkpoint_period=1",
                                     "max_num_checkpoints_to_keep=2",
                                     "learning_rate=1e-2",
                                     "train_files=" + folder_ + "/text.txt",
                                     "base_output_directory=" + folder_,
                                     "run_name=" + name};
    keys.insert(keys.end(), more.begin(), more.end());
    return read_config({}, keys);
  }
  static Result<RunResult> train(const Config& c) {
    const int quiet = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    Progress progress(quiet);
    auto result = run(c, progress);
    ::close(quiet);
    return result;
  }
  std::string root(const std::string& name) const { return folder_ + "/" + name + "/checkpoints"; }
  std::vector<std::int64_t> steps(const std::string& name) const {
    std::vector<std::int64_t> out;
    for (const auto& [step, folder] : any_format::steps(root(name)).value()) out.push_back(step);
    return out;
  }
  /// Weights, moments, and the state of the data, to the bit.
  static bool same(const checkpoint::Checkpoint& a, const checkpoint::Checkpoint& b) {
    if (a.parts.size() != b.parts.size() || a.step != b.step) return false;
    for (const auto& [part, tensors] : a.parts) {
      if (tensors.size() != b.parts.at(part).size()) return false;
      for (const auto& [name, tensor] : tensors)
        if (!tensor.same_bits(b.parts.at(part).at(name))) return false;
    }
    return a.notes.at("data") == b.notes.at("data");
  }
  checkpoint::Checkpoint newest(const std::string& name) const {
    return std::move(*any_format::load_latest(root(name)).value().checkpoint);
  }
  /// What was recorded, without times.
  std::vector<std::string> losses(const std::string& name) const {
    std::vector<std::string> out;
    std::ifstream in(folder_ + "/" + name + "/metrics/metrics.jsonl");
    for (std::string line; std::getline(in, line);)
      out.push_back(line.substr(0, std::min(line.find(",\"perf/"), line.size())));
    return out;
  }
  std::string folder_;
};

const std::string kOrbax = "checkpoint_format=orbax", kOneStep = "max_seconds=1e-9";

TEST_F(OrbaxRunTest, AStepHoldsAllItemsAndResumesWithTheSameBits) {
  ASSERT_TRUE(train(tiny("strata")).ok());
  for (const std::string format : {"orbax", "orbax-v1"}) {
    ASSERT_TRUE(train(tiny(format, {"checkpoint_format=" + format})).ok());
    EXPECT_THAT(steps(format), ElementsAre(3, 4));
    EXPECT_TRUE(same(newest(format), newest("strata")));
    const auto step = checkpoint::orbax::Directory::open(root(format) + "/4");
    ASSERT_TRUE(step.ok()) << step.status().message();
    EXPECT_THAT(step->trees(), ElementsAre("optimizer", "params"));
    EXPECT_TRUE(step->json().contains("data"));
    EXPECT_EQ(any_format::format_of(root(format) + "/4").value(),
              format == "orbax" ? Format::orbax : Format::orbax2);
    const std::string broken = format + "_broken";
    for (int i = 0; i < 3; ++i)
      ASSERT_TRUE(train(tiny(broken, {"checkpoint_format=" + format, kOneStep})).ok());
    ASSERT_TRUE(train(tiny(broken, {"checkpoint_format=" + format})).ok());
    EXPECT_TRUE(same(newest(broken), newest("strata")));
    EXPECT_EQ(losses(broken), losses("strata"));
  }
}

TEST_F(OrbaxRunTest, TheFormatMayChangeBetweenTheStepsOfARun) {
  ASSERT_TRUE(train(tiny("whole")).ok());
  ASSERT_TRUE(train(tiny("a", {kOneStep})).ok());
  ASSERT_TRUE(train(tiny("a", {kOneStep, kOrbax})).ok());
  EXPECT_THAT(steps("a"), ElementsAre(1, 2));
  ASSERT_TRUE(train(tiny("a", {kOneStep, "checkpoint_format=orbax-v1"})).ok());
  EXPECT_THAT(steps("a"), ElementsAre(2, 3));  // Strata's went
  ASSERT_TRUE(train(tiny("a")).ok());
  EXPECT_TRUE(same(newest("a"), newest("whole")));
  EXPECT_EQ(losses("a"), losses("whole"));
}

TEST_F(OrbaxRunTest, ADamagedStepIsPassedOverAndReplaced) {
  ASSERT_TRUE(train(tiny("whole", {kOrbax})).ok());
  ASSERT_TRUE(train(tiny("hurt", {kOrbax})).ok());
  fs::remove(root("hurt") + "/4/params/manifest.ocdbt");
  EXPECT_EQ(newest("hurt").step, 3);
  ASSERT_TRUE(train(tiny("hurt", {kOrbax})).ok());
  EXPECT_TRUE(same(newest("hurt"), newest("whole")));
}

// A leaf that is gone from the newest step's tree, of either format: what is left reads as a whole
// checkpoint, and is none of this run's.
TEST_F(OrbaxRunTest, AStepThatLacksATensorIsPassedOverAndTold) {
  ASSERT_TRUE(train(tiny("whole")).ok());
  const std::string log = folder_ + "/log", leaf = "decoder_norm";
  for (const std::string format : {"strata", "orbax", "orbax-v1"}) {
    const std::string key = "checkpoint_format=" + format, newest_step = root(format) + "/4";
    ASSERT_TRUE(train(tiny(format, {key})).ok());
    if (format == "strata") {
      checkpoint::Checkpoint c = newest(format);
      ASSERT_GT(std::erase_if(c.parts.at("params"),
                              [&](const auto& t) { return t.first.find(leaf) != t.first.npos; }),
                0u);
      ASSERT_TRUE(any_format::save(root(format), c).ok());
      EXPECT_TRUE(any_format::verify(newest_step).empty());
    } else {
      const std::string file = newest_step + "/params/_METADATA";
      auto metadata = nlohmann::json::parse(read_file(file).value());
      auto& tree = metadata.at("tree_metadata");
      for (auto at = tree.begin(); at != tree.end();)
        at = at.key().find(leaf) == std::string::npos ? std::next(at) : tree.erase(at);
      std::ofstream(file) << metadata;
      const std::vector<Status> wrong = any_format::verify(newest_step);
      ASSERT_EQ(wrong.size(), 1u);
      EXPECT_THAT(wrong[0].message(), HasSubstr(leaf));
    }
    const int quiet = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    Progress quietly(quiet);
    const auto again = replay(folder_ + "/" + format, 4, quietly);
    ::close(quiet);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_TRUE(same(again->checkpoint, newest("whole"))) << format;
    const auto generator = Generator::load(folder_ + "/" + format);
    ASSERT_TRUE(generator.ok()) << generator.status().message();
    EXPECT_EQ(generator->damaged().size(), 1u);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    Progress progress(out);
    const auto result = run(tiny(format, {key}), progress);
    ::close(out);
    ASSERT_TRUE(result.ok()) << format << ": " << result.status().message();
    const std::string said = read_file(log).value();
    EXPECT_THAT(said, HasSubstr("damaged checkpoint passed over: " + newest_step +
                                ": checkpoint of step 4: tensor '"));
    EXPECT_THAT(said, HasSubstr("of params is missing"));
    EXPECT_THAT(said, HasSubstr("going on from " + root(format) + "/3"));
    EXPECT_TRUE(any_format::verify(newest_step).empty());
    EXPECT_TRUE(same(newest(format), newest("whole"))) << format;
    EXPECT_EQ(losses(format), losses("whole"));
  }
}

TEST_F(OrbaxRunTest, OtherCommandsReadTheRun) {
  ASSERT_TRUE(train(tiny("every", {"max_num_checkpoints_to_keep=0", kOrbax})).ok());
  ASSERT_TRUE(train(tiny("last", {"checkpoint_period=3", kOrbax})).ok());
  const int quiet = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  Progress progress(quiet);
  for (std::int64_t step : {2, 3, 4}) {
    auto again = replay(folder_ + "/last", step, progress);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_TRUE(same(again->checkpoint,
                     any_format::load(root("every") + "/" + std::to_string(step)).value()));
  }
  ::close(quiet);
  EXPECT_TRUE(Generator::load(folder_ + "/every").ok());
}

/// What fails: operation `at`, with an error, and all behind it where `on`.
struct Fault {
  int at = 0, error = 0;
  bool on = false;
};

// Every `stride`-th write, sync, rename and remove of one step and its save, after two that were
// saved. STRATA_ALL_FAULTS takes them all (make soak).
TEST_F(OrbaxRunTest, ASaveThatFailsAnywhereLeavesTheOldStepOrTheNewOneWhole) {
  ASSERT_TRUE(train(tiny("whole", {kOrbax})).ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(train(tiny("before", {kOrbax, kOneStep})).ok());
  std::atomic<int> operations{0};
  const auto one_step = [&](const std::string& name, Fault fault) {
    fs::remove_all(folder_ + "/" + name);
    fs::copy(folder_ + "/before", folder_ + "/" + name, fs::copy_options::recursive);
    operations = 0;
    testing_hooks::set_io_fault([&operations, fault](const char*) {
      const int n = ++operations;
      return fault.at > 0 && (fault.on ? n >= fault.at : n == fault.at) ? fault.error : 0;
    });
    auto result = train(tiny(name, {kOrbax, kOneStep}));
    testing_hooks::set_io_fault({});
    return result.status();
  };
  ASSERT_TRUE(one_step("counted", {}).ok());
  const int most = operations;
  ASSERT_GT(most, 40);
  const auto second = any_format::load(root("before") + "/2").value();
  const auto third = any_format::load(root("counted") + "/3").value();
  const bool all = std::getenv("STRATA_ALL_FAULTS") != nullptr;
  int old_ones = 0, new_ones = 0, round = 0;
  for (int at = 1; at <= most; at += all ? 1 : 7) {
    const Fault faults[] = {{at, ENOSPC, false}, {at, EIO, false}, {at, EIO, true}};
    for (const Fault& fault : faults) {
      if (!all && &fault != &faults[round++ % 3]) continue;
      const Status s = one_step("hurt", fault);
      const auto latest = any_format::load_latest(root("hurt"));
      ASSERT_TRUE(latest.ok() && latest->checkpoint) << at;
      EXPECT_TRUE(latest->damaged.empty()) << at << " " << latest->damaged.front().message();
      const bool is_new = latest->checkpoint->step == 3;
      EXPECT_TRUE(same(*latest->checkpoint, is_new ? third : second)) << at;
      EXPECT_TRUE(is_new || !s.ok()) << at << ": the run told nothing";
      (is_new ? new_ones : old_ones) += 1;
      auto rest = train(tiny("hurt", {kOrbax}));
      ASSERT_TRUE(rest.ok()) << at << " " << rest.status().message();
      EXPECT_TRUE(same(newest("hurt"), newest("whole"))) << at;
      EXPECT_EQ(losses("hurt"), losses("whole")) << at;
      for (const auto& entry : fs::directory_iterator(root("hurt")))
        EXPECT_THAT(entry.path().filename().string(), testing::AnyOf("3", "4")) << at;
    }
  }
  EXPECT_GT(old_ones, 5);
  EXPECT_GT(new_ones, 1);
}

}  // namespace
}  // namespace strata::train
