// Any step of a run, computed again: the bits that the run had, whatever the run was.
#include "strata/train/replay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "strata/api/sharding/devices.h"
#include "strata/checkpoint/any_format.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/train/run.h"

namespace strata::train {
namespace {

namespace fs = std::filesystem;
using Keys = std::vector<std::string>;

class ReplayTest : public testing::Test {
 protected:
  ReplayTest() {
    compile::register_cpu();
    std::string name = testing::TempDir() + "replay_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    std::ofstream text(folder_ + "/text.txt");
    for (int i = 0; i < 300; ++i) text << "verse " << i * i % 97 << " of a little book.\n";
  }
  ~ReplayTest() override { fs::remove_all(folder_); }

  Config config(Keys more) const {
    more.insert(more.end(),
                {"train_files=" + folder_ + "/text.txt", "base_output_directory=" + folder_,
                 "run_name=run", "steps=14", "checkpoint_period=1", "max_num_checkpoints_to_keep=0",
                 "eval_interval=0", "learning_rate=1e-2", "log_period=100", "max_target_length=8"});
    return read_config({}, more);
  }
  /// A run that keeps every step; then most of them are taken away, and ten chosen at random are
  /// computed again from those that are left.
  void check(const Keys& keys, unsigned seed) {
    const int quiet = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    Progress progress(quiet);
    const auto whole = run(config(keys), progress);
    ASSERT_TRUE(whole.ok()) << whole.status().message();
    const std::string root = folder_ + "/run/checkpoints", all = folder_ + "/all";
    fs::copy(root, all, fs::copy_options::recursive);
    const std::set<std::int64_t> left = {5, 10, 14};
    for (const auto& [step, at] : checkpoint::any_format::steps(root).value())
      if (!left.count(step)) fs::remove_all(at);
    std::set<std::int64_t> chosen;
    for (std::mt19937 draw(seed); chosen.size() < 10;)
      chosen.insert(static_cast<std::int64_t>(1 + draw() % 14));
    for (const std::int64_t step : chosen) {
      const auto again = replay(folder_ + "/run", step, progress);
      ASSERT_TRUE(again.ok()) << again.status().message();
      const auto had = checkpoint::any_format::load(all + "/" + std::to_string(step));
      ASSERT_TRUE(had.ok()) << had.status().message();
      ASSERT_EQ(again->parts.size(), had->parts.size());
      for (const auto& [part, tensors] : had->parts) {
        ASSERT_EQ(again->parts.at(part).size(), tensors.size());
        for (const auto& [name, t] : tensors)
          EXPECT_TRUE(again->parts.at(part).at(name).same_bits(t))
              << "step " << step << ", " << part << " " << name;
      }
      EXPECT_EQ(again->notes.at("data"), had->notes.at("data"));
      EXPECT_EQ(again->notes.at("loss"), had->notes.at("loss"));
    }
    ::close(quiet);
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

}  // namespace
}  // namespace strata::train
