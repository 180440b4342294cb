#include "strata/checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "strata/base/file.h"
#include "strata/checkpoint/manifest.h"

namespace strata::checkpoint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

Checkpoint sample(std::int64_t step, std::int64_t elements = 64) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < elements; ++i)
    values.push_back(static_cast<float>(step) + 0.25f * static_cast<float>(i));
  Checkpoint c{step, {}, {}};
  c.parts["params"]["layers.w"] = Literal::of<float>({elements}, values);
  c.parts["params"]["bias"] = Literal::scalar<float>(0.5f);
  c.parts["optimizer"]["count"] = Literal::scalar<std::int32_t>(static_cast<std::int32_t>(step));
  c.notes = {{"config", R"({"steps":10,"dtype":"float32"})"}, {"random_key", "[0,42]"}};
  return c;
}

bool equal(const Checkpoint& a, const Checkpoint& b) {
  if (a.step != b.step || a.notes != b.notes || a.parts.size() != b.parts.size()) return false;
  for (const auto& [part, tensors] : a.parts) {
    if (!b.parts.count(part) || b.parts.at(part).size() != tensors.size()) return false;
    for (const auto& [name, tensor] : tensors) {
      if (!b.parts.at(part).count(name) || !tensor.same_bits(b.parts.at(part).at(name)))
        return false;
    }
  }
  return true;
}

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() {
    std::string name = testing::TempDir() + "checkpoint_XXXXXX";
    base_ = ::mkdtemp(name.data());
    root_ = base_ + "/run/checkpoints";
  }
  ~CheckpointTest() override { fs::remove_all(base_); }
  std::vector<std::int64_t> all() const { return *steps(root_); }
  std::string file(std::int64_t step, const std::string& name) const {
    return fmt::format("{}/{}/{}", root_, step, name);
  }
  void put(const std::string& path, const std::string& bytes) {
    ASSERT_TRUE(write_file_synced(path, bytes).ok());
  }
  std::string base_, root_;
};

/// Runs `f` in a child; its exit status, or minus the signal that ended it.
int in_child(const std::function<int()>& f) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(f());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST_F(CheckpointTest, WhatIsSavedIsLoaded) {
  ASSERT_TRUE(save(root_, sample(7)).ok());
  auto c = load(root_ + "/7");
  ASSERT_TRUE(c.ok()) << c.status().message();
  EXPECT_TRUE(equal(*c, sample(7)));
}

TEST_F(CheckpointTest, TheManifestSaysEverything) {
  ASSERT_TRUE(save(root_, sample(7)).ok());
  const std::string text = *read_file(file(7, "manifest.json"));
  for (const char* part :
       {"\"format\": 1", "\"step\": 7", "\"dtype\": \"f32\"", "\"layers.w\"", "\"config\"",
        "\"random_key\"", "params.safetensors", "optimizer.safetensors", "crc32c"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST_F(CheckpointTest, ARunWithoutCheckpointsHasNone) {
  auto latest = load_latest(root_);
  ASSERT_TRUE(latest.ok());
  EXPECT_FALSE(latest->checkpoint.has_value());
  EXPECT_THAT(latest->damaged, IsEmpty());
}

TEST_F(CheckpointTest, KeepsTheNewest) {
  for (std::int64_t step : {1, 9, 10, 100})
    ASSERT_TRUE(save(root_, sample(step), {.newest = 3}).ok());
  EXPECT_THAT(all(), ElementsAre(9, 10, 100));
  ASSERT_TRUE(save(root_, sample(101), {.newest = 1}).ok());
  EXPECT_THAT(all(), ElementsAre(101));
  EXPECT_EQ(list_folder(root_)->size(), 1u);
}

TEST_F(CheckpointTest, KeepsEveryKthBesides) {
  for (std::int64_t step = 1; step <= 11; ++step)
    ASSERT_TRUE(save(root_, sample(step), {.newest = 2, .every = 4}).ok());
  EXPECT_THAT(all(), ElementsAre(4, 8, 10, 11));
  ASSERT_TRUE(save(root_, sample(12), {.newest = 2, .every = 4}).ok());
  EXPECT_THAT(all(), ElementsAre(4, 8, 11, 12));
  ASSERT_TRUE(save(root_, sample(13), {.newest = 0, .every = 4}).ok());
  EXPECT_THAT(all(), ElementsAre(4, 8, 11, 12, 13));
}

TEST_F(CheckpointTest, ASecondSaveOfAStepReplacesTheFirst) {
  ASSERT_TRUE(save(root_, sample(5)).ok());
  Checkpoint changed = sample(5, 32);
  ASSERT_TRUE(save(root_, changed).ok());
  EXPECT_TRUE(equal(*load(root_ + "/5"), changed));
  EXPECT_EQ(list_folder(root_)->size(), 1u);
}

TEST_F(CheckpointTest, ADamagedOneIsReportedAndTheOneBeforeUsed) {
  ASSERT_TRUE(save(root_, sample(1)).ok());
  ASSERT_TRUE(save(root_, sample(2)).ok());
  std::string bytes = *read_file(file(2, "params.safetensors"));
  bytes[bytes.size() - 6] ^= 1;
  put(file(2, "params.safetensors"), bytes);
  auto latest = load_latest(root_);
  ASSERT_TRUE(latest.ok());
  EXPECT_TRUE(equal(*latest->checkpoint, sample(1)));
  EXPECT_EQ(latest->folder, root_ + "/1");
  ASSERT_EQ(latest->damaged.size(), 1u);
  EXPECT_THAT(latest->damaged[0].message(),
              HasSubstr("/2/params.safetensors: tensor 'layers.w' does not match its checksum"));
}

TEST_F(CheckpointTest, AStepUnderAnotherNameIsDamaged) {
  ASSERT_TRUE(save(root_, sample(1)).ok());
  fs::rename(root_ + "/1", root_ + "/3");
  EXPECT_THAT(load_latest(root_)->damaged.at(0).message(), HasSubstr("the manifest is of step 1"));
}

TEST_F(CheckpointTest, ANewerFormatSaysSo) {
  Manifest manifest;
  manifest.format = 9;
  auto read = decode_manifest(encode_manifest(manifest), "m");
  EXPECT_EQ(read.status().code(), Code::unsupported);
  EXPECT_THAT(read.status().message(),
              HasSubstr("m: format 9 is newer than this Strata knows (2)"));
}

TEST_F(CheckpointTest, ANewerOneIsNotPassedOver) {
  ASSERT_TRUE(save(root_, sample(1)).ok());
  ASSERT_TRUE(save(root_, sample(2)).ok());
  Manifest manifest;
  manifest.format = 3;
  put(file(2, "manifest.json"), encode_manifest(manifest));
  EXPECT_EQ(load_latest(root_).status().code(), Code::unsupported);
  EXPECT_EQ(find(base_ + "/run").status().code(), Code::unsupported);
  manifest.format = 0;
  put(file(2, "manifest.json"), encode_manifest(manifest));
  EXPECT_EQ(load_latest(root_)->folder, root_ + "/1");
}

TEST_F(CheckpointTest, VerifyNamesAllThatIsWrong) {
  ASSERT_TRUE(save(root_, sample(1)).ok());
  EXPECT_THAT(verify(root_ + "/1"), IsEmpty());
  std::string bytes = *read_file(file(1, "params.safetensors"));
  bytes[bytes.size() - 1] ^= 1;
  bytes[bytes.size() - 64 * 4 - 1] ^= 1;
  put(file(1, "params.safetensors"), bytes);
  fs::remove(file(1, "optimizer.safetensors"));
  const std::vector<Status> wrong = verify(root_ + "/1");
  ASSERT_EQ(wrong.size(), 3u);
  EXPECT_THAT(wrong[0].message(), HasSubstr("optimizer.safetensors: the file is missing"));
  EXPECT_THAT(wrong[1].message(), HasSubstr("tensor 'bias' does not match its checksum"));
  EXPECT_THAT(wrong[2].message(), HasSubstr("tensor 'layers.w' does not match its checksum"));
}

TEST_F(CheckpointTest, VerifyNamesTheTensorThatIsCut) {
  ASSERT_TRUE(save(root_, sample(1)).ok());
  const std::string bytes = *read_file(file(1, "params.safetensors"));
  put(file(1, "params.safetensors"), bytes.substr(0, bytes.size() - 1));
  EXPECT_THAT(verify(root_ + "/1").at(0).message(), HasSubstr(", cut in tensor 'layers.w'"));
  put(file(1, "params.safetensors"), bytes.substr(0, bytes.size() - 64 * 4 - 1));
  EXPECT_THAT(verify(root_ + "/1").at(0).message(), HasSubstr(", cut in tensor 'bias'"));
}

TEST_F(CheckpointTest, APathMeansTheNewestWholeOne) {
  EXPECT_EQ(find(base_ + "/run").status().code(), Code::not_found);
  ASSERT_TRUE(save(root_, sample(1)).ok());
  ASSERT_TRUE(save(root_, sample(2)).ok());
  EXPECT_EQ(find(base_ + "/run")->folder, root_ + "/2");
  EXPECT_EQ(find(root_)->folder, root_ + "/2");
  EXPECT_EQ(find(root_ + "/1")->folder, root_ + "/1");
  fs::resize_file(file(2, "params.safetensors"), 10);
  EXPECT_EQ(find(root_)->folder, root_ + "/1");
  EXPECT_EQ(find(root_)->damaged.size(), 1u);
  EXPECT_EQ(find(root_ + "/2").status().code(), Code::corrupt) << "asked for by its name";
  fs::resize_file(file(1, "params.safetensors"), 10);
  EXPECT_THAT(find(root_).status().message(), HasSubstr("no checkpoint is whole"));
}

TEST_F(CheckpointTest, DeepNestingIsRefused) {
  auto refusal = [](std::size_t depth) {
    const std::string note = std::string(depth, '[') + "\"[\\\"[\"" + std::string(depth, ']');
    auto read = decode_manifest(
        with_checksum(R"({"format":1,"step":1,"files":{},"notes":{"a":)" + note + "}"), "m");
    return read.ok() ? "" : read.status().message();
  };
  EXPECT_EQ(refusal(60), "");
  EXPECT_THAT(refusal(100), HasSubstr("nested more than"));
  EXPECT_THAT(refusal(1000000), HasSubstr("nested more than"));
}

TEST_F(CheckpointTest, NoFileNameLeadsOutOfTheFolder) {
  Manifest manifest;
  manifest.files["../x.safetensors"] = {};
  EXPECT_THAT(decode_manifest(encode_manifest(manifest), "m").status().message(),
              HasSubstr("no file of a checkpoint"));
}

TEST_F(CheckpointTest, EveryCutIsFound) {
  ASSERT_TRUE(save(root_, sample(1)).ok());
  const bool all = std::getenv("STRATA_ALL_FAULTS") != nullptr;
  for (const char* name : {"manifest.json", "params.safetensors", "optimizer.safetensors"}) {
    const std::string good = *read_file(file(1, name));
    for (std::size_t n = 0; n < good.size(); n += all ? 1 : 1 + good.size() / 97) {
      put(file(1, name), good.substr(0, n));
      EXPECT_FALSE(load(root_ + "/1").ok()) << name << " cut to " << n;
    }
    put(file(1, name), good + "x");
    EXPECT_FALSE(load(root_ + "/1").ok()) << name << " with a byte more";
    fs::remove(file(1, name));
    EXPECT_FALSE(load(root_ + "/1").ok()) << name << " missing";
    put(file(1, name), good);
    EXPECT_TRUE(load(root_ + "/1").ok());
  }
}

TEST_F(CheckpointTest, EveryFlippedBitIsFound) {
  ASSERT_TRUE(save(root_, sample(1)).ok());
  const bool all = std::getenv("STRATA_ALL_FAULTS") != nullptr;
  for (const char* name : {"manifest.json", "params.safetensors", "optimizer.safetensors"}) {
    const std::string good = *read_file(file(1, name));
    for (std::size_t i = 0; i < good.size(); i += all ? 1 : 1 + good.size() / 151) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
      put(file(1, name), bad);
      EXPECT_FALSE(load(root_ + "/1").ok()) << name << " flipped at " << i;
    }
    put(file(1, name), good);
  }
}

// Killed before every write, sync, rename and removal of one save, the run has either the old
// checkpoint or the new one, whole, and goes on.
class Killed : public CheckpointTest {
 protected:
  /// Ends the child before its k-th operation; 0 when the save had fewer.
  static int save_until(const std::string& root, const Checkpoint& c, Keep keep, int k) {
    return in_child([&] {
      int count = 0;
      testing_hooks::set_before_io([&](const char*) {
        if (++count == k) ::_exit(9);
      });
      return save(root, c, keep).ok() ? 0 : 1;
    });
  }
  void kill_everywhere(const Checkpoint& saved, Keep keep) {
    int k = 1;
    for (int status = 9; status == 9; ++k) {
      ASSERT_LT(k, 200);
      fs::remove_all(root_);
      ASSERT_TRUE(save(root_, sample(1)).ok());
      ASSERT_TRUE(save(root_, sample(2)).ok());
      status = save_until(root_, saved, keep, k);
      ASSERT_TRUE(status == 9 || status == 0);
      auto latest = load_latest(root_);
      ASSERT_TRUE(latest.ok() && latest->checkpoint.has_value());
      EXPECT_THAT(latest->damaged, IsEmpty()) << "killed before operation " << k;
      EXPECT_TRUE(equal(*latest->checkpoint, sample(2)) || equal(*latest->checkpoint, saved))
          << "killed before operation " << k;
      if (status == 0) {
        EXPECT_TRUE(equal(*latest->checkpoint, saved));
      }
      ASSERT_TRUE(save(root_, sample(4), {.newest = 1}).ok());
      EXPECT_EQ(list_folder(root_)->size(), 1u) << "left behind after operation " << k;
    }
    EXPECT_GT(k, 10);
  }
};

TEST_F(Killed, BeforeEveryOperationOfASave) { kill_everywhere(sample(3), {}); }
TEST_F(Killed, BeforeEveryOperationOfASaveThatRemovesOldOnes) {
  kill_everywhere(sample(3), {.newest = 1});
}
TEST_F(Killed, BeforeEveryOperationOfASaveThatReplaces) { kill_everywhere(sample(2, 32), {}); }

TEST_F(CheckpointTest, ALimitOnFileSizesLosesNothing) {
  ASSERT_TRUE(save(root_, sample(1)).ok());
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Status s = save(root_, sample(2, 1 << 16));
    return s.code() == Code::no_space &&
                   s.message().find("2.tmp/params.safetensors: cannot write") != std::string::npos
               ? 0
               : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(equal(*load_latest(root_)->checkpoint, sample(1)));
  EXPECT_EQ(list_folder(root_)->size(), 1u);
}

TEST_F(CheckpointTest, AFullDiskLosesNothing) {
  const std::string disk = base_ + "/disk";
  fs::create_directory(disk);
  // Without the right to mount, the limit on file sizes above stands for a full disk.
  if (::mount("none", disk.c_str(), "tmpfs", 0, "size=256k") != 0) return;
  const std::string root = disk + "/checkpoints";
  EXPECT_TRUE(save(root, sample(1)).ok());
  Status s = save(root, sample(2, 1 << 20));
  EXPECT_EQ(s.code(), Code::no_space);
  EXPECT_THAT(s.message(), HasSubstr("No space left on device"));
  EXPECT_TRUE(equal(*load_latest(root)->checkpoint, sample(1)));
  EXPECT_EQ(list_folder(root)->size(), 1u);
  EXPECT_TRUE(save(root, sample(3)).ok());
  ::umount(disk.c_str());
}

}  // namespace
}  // namespace strata::checkpoint
