#include "strata/checkpoint/chunks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "strata/checkpoint/checkpoint.h"
#include "strata/checkpoint/manifest.h"

namespace strata::checkpoint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
namespace fs = std::filesystem;

constexpr std::int64_t kMany = kLeastChunk / 4;  // elements of the least chunk
const Still kBase = {{"params", {"base.w"}}};

Literal full(std::int64_t elements, double value) {
  return Literal::full(Type(DType::f32, Shape{elements}), value);
}

/// An adapter on a base that stays: 64 KiB of 65 KiB.
Checkpoint adapter(std::int64_t step) {
  Checkpoint c{step, {}, {}};
  c.parts["params"]["base.w"] = full(4 * kMany, 0.5);
  c.parts["params"]["lora_a"] = full(256, static_cast<double>(step));
  c.parts["optimizer"]["m"] = full(256, static_cast<double>(-step));
  return c;
}

bool equal(const Checkpoint& a, const Checkpoint& b) {
  if (a.step != b.step || a.parts.size() != b.parts.size()) return false;
  for (const auto& [part, tensors] : a.parts)
    for (const auto& [name, tensor] : tensors)
      if (!b.parts.count(part) || !b.parts.at(part).count(name) ||
          !tensor.same_bits(b.parts.at(part).at(name)))
        return false;
  return true;
}

class Chunks : public testing::Test {
 protected:
  Chunks() {
    std::string name = testing::TempDir() + "chunks_XXXXXX";
    base_ = ::mkdtemp(name.data());
    root_ = base_ + "/checkpoints";
  }
  ~Chunks() override { fs::remove_all(base_); }
  /// Bytes of all files below the root.
  std::uint64_t bytes() const {
    std::uint64_t out = 0;
    for (const auto& entry : fs::recursive_directory_iterator(root_))
      if (entry.is_regular_file()) out += entry.file_size();
    return out;
  }
  std::vector<std::string> chunks() const {
    std::vector<std::string> out;
    if (!fs::exists(root_ + "/chunks")) return out;
    const auto names = *list_folder(root_ + "/chunks");
    for (const std::string& name : names)
      if (name != "lock") out.push_back(name);
    return out;
  }
  std::string name_of(const Literal& t) const {
    return chunk_name({reinterpret_cast<const char*>(t.data()), t.bytes()});
  }
  std::string base_, root_;
};

TEST_F(Chunks, AreCalledByTheirSha256) {
  EXPECT_EQ(chunk_name("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_TRUE(is_chunk_name(chunk_name("")));
  EXPECT_FALSE(is_chunk_name("../" + chunk_name("").substr(3)));
}

TEST_F(Chunks, ASecondSaveWritesWhatChanged) {
  ASSERT_TRUE(save(root_, adapter(1), {}, kBase).ok());
  const std::uint64_t first = bytes();
  EXPECT_GT(first, 4 * kLeastChunk);
  ASSERT_TRUE(save(root_, adapter(2), {}, kBase).ok());
  // Two tensors of a KiB, two headers, a manifest.
  EXPECT_LT(bytes() - first, 2 * 1024 + 2048);
  EXPECT_TRUE(equal(*load(root_, 1), adapter(1)));
  EXPECT_TRUE(equal(*load(root_, 2), adapter(2)));
  EXPECT_THAT(chunks(), ElementsAre(name_of(full(4 * kMany, 0.5))));
}

TEST_F(Chunks, WhatNobodySaidIsFoundToStay) {
  ASSERT_TRUE(save(root_, adapter(1)).ok());
  EXPECT_THAT(chunks(), IsEmpty());
  ASSERT_TRUE(save(root_, adapter(2)).ok());
  EXPECT_EQ(chunks().size(), 1u);
  const std::uint64_t before = bytes();
  ASSERT_TRUE(save(root_, adapter(3)).ok());
  EXPECT_LT(bytes() - before, 2 * 1024 + 2048);
  EXPECT_TRUE(equal(*load(root_, 3), adapter(3)));
}

TEST_F(Chunks, AStepThatIsReplacedIsNotTheOneBefore) {
  ASSERT_TRUE(save(root_, adapter(1)).ok());
  ASSERT_TRUE(save(root_, adapter(1)).ok());
  EXPECT_THAT(chunks(), IsEmpty()) << "a step done again has the files that it had";
}

TEST_F(Chunks, ARunWhoseTensorsChangeHasNone) {
  for (std::int64_t step : {1, 2}) {
    Checkpoint c = adapter(step);
    c.parts["params"]["base.w"] = full(4 * kMany, static_cast<double>(step));
    ASSERT_TRUE(save(root_, c).ok());
  }
  EXPECT_FALSE(fs::exists(root_ + "/chunks"));
  EXPECT_THAT(*read_file(root_ + "/2/manifest.json"), HasSubstr("\"format\": 1"));
}

TEST_F(Chunks, EqualTensorsAreOneAndSmallOnesNone) {
  Checkpoint c = adapter(1);
  c.parts["ema"]["base.w"] = full(4 * kMany, 0.5);
  c.parts["ema"]["small"] = full(kMany - 1, 1);
  ASSERT_TRUE(save(root_, c, {}, {{"params", {"base.w"}}, {"ema", {"base.w", "small"}}}).ok());
  EXPECT_EQ(chunks().size(), 1u);
  EXPECT_TRUE(equal(*load(root_, 1), c));
}

TEST_F(Chunks, StayWhileAStepNamesThem) {
  auto with = [](std::int64_t step, double value) {
    Checkpoint c = adapter(step);
    c.parts["params"]["base.w"] = full(4 * kMany, value);
    return c;
  };
  ASSERT_TRUE(save(root_, with(1, 1), {}, kBase).ok());
  ASSERT_TRUE(save(root_, with(2, 2), {}, kBase).ok());
  EXPECT_THAT(chunks(),
              UnorderedElementsAre(name_of(full(4 * kMany, 1)), name_of(full(4 * kMany, 2))));
  ASSERT_TRUE(save(root_, with(3, 2), {.newest = 2}, kBase).ok());
  EXPECT_THAT(chunks(), ElementsAre(name_of(full(4 * kMany, 2))));
  EXPECT_TRUE(equal(*load(root_, 2), with(2, 2)));
  EXPECT_TRUE(equal(*load(root_, 3), with(3, 2)));
}

TEST_F(Chunks, StayWhileAManifestCannotBeRead) {
  ASSERT_TRUE(save(root_, adapter(1), {}, kBase).ok());
  ASSERT_TRUE(write_file_synced(root_ + "/1/manifest.json", "{").ok());
  Checkpoint other = adapter(2);
  other.parts["params"].erase("base.w");
  ASSERT_TRUE(save(root_, other).ok());
  EXPECT_EQ(chunks().size(), 1u) << "step 1 may name it";
  fs::remove(root_ + "/1/manifest.json");
  ASSERT_TRUE(collect_chunks(root_).ok());
  EXPECT_EQ(chunks().size(), 1u);
  fs::remove_all(root_ + "/1");
  ASSERT_TRUE(collect_chunks(root_).ok());
  EXPECT_THAT(chunks(), IsEmpty());
}

TEST_F(Chunks, StayWhileAnotherProcessSaves) {
  ASSERT_TRUE(save(root_, adapter(1), {}, kBase).ok());
  ASSERT_TRUE(write_chunk(root_, chunk_name("not named yet"), "not named yet").ok());
  {
    auto saving = ChunkLock::wait(root_);
    ASSERT_TRUE(saving.ok());
    ASSERT_TRUE(collect_chunks(root_).ok());
    EXPECT_EQ(chunks().size(), 2u);
  }
  ASSERT_TRUE(collect_chunks(root_).ok());
  EXPECT_EQ(chunks().size(), 1u);
}

TEST_F(Chunks, VerifyNamesAMissingAndADamagedOne) {
  ASSERT_TRUE(save(root_, adapter(1), {}, kBase).ok());
  const std::string path = root_ + "/chunks/" + chunks().at(0);
  const std::string good = *read_file(path);
  auto problem = [&] {
    const std::vector<Status> wrong = verify(root_ + "/1");
    return wrong.size() == 1 ? wrong[0].message() : fmt::format("{} problems", wrong.size());
  };
  for (std::size_t i : {std::size_t{0}, good.size() / 2, good.size() - 1}) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    ASSERT_TRUE(write_file_synced(path, bad).ok());
    EXPECT_THAT(problem(), HasSubstr(path + ": the chunk does not match its checksum; it holds "
                                            "tensor 'base.w' of params"));
  }
  ASSERT_TRUE(write_file_synced(path, good.substr(1)).ok());
  EXPECT_THAT(problem(), HasSubstr(path + ": the chunk has 65535 bytes, tensor 'base.w' of params "
                                          "has 65536"));
  ASSERT_TRUE(save(root_, adapter(2), {}, kBase).ok());
  EXPECT_THAT(verify(root_ + "/1"), IsEmpty()) << "a cut one is written anew";
  fs::remove(path);
  EXPECT_THAT(problem(), HasSubstr(path + ": the chunk is missing, which holds tensor 'base.w'"));
  EXPECT_EQ(load(root_ + "/1").status().code(), Code::corrupt);
}

TEST_F(Chunks, ADamagedNewestFallsBackToAStepWithoutThatChunk) {
  Checkpoint first = adapter(1);
  first.parts["params"]["base.w"] = full(4 * kMany, 9);
  ASSERT_TRUE(save(root_, first, {}, kBase).ok());
  ASSERT_TRUE(save(root_, adapter(2), {}, kBase).ok());
  fs::remove(root_ + "/chunks/" + name_of(full(4 * kMany, 0.5)));
  auto latest = load_latest(root_);
  ASSERT_TRUE(latest.ok() && latest->checkpoint);
  EXPECT_TRUE(equal(*latest->checkpoint, first));
  EXPECT_EQ(latest->damaged.size(), 1u);
}

TEST_F(Chunks, NoNameLeadsOutOfTheFolder) {
  Manifest m;
  m.format = 2;
  m.files["params.safetensors"].tensors["w"] = {.dtype = "f32", .shape = {1}, .chunk = "../x"};
  EXPECT_THAT(decode_manifest(encode_manifest(m), "m").status().message(),
              HasSubstr("'../x' is no name of a chunk"));
}

/// Ends the child before its k-th operation; 0 when the save had fewer.
int save_until(const std::string& root, const Checkpoint& c, Keep keep, int k) {
  const pid_t child = ::fork();
  if (child == 0) {
    int count = 0;
    testing_hooks::set_before_io([&](const char*) {
      if (++count == k) ::_exit(9);
    });
    ::_exit(save(root, c, keep, kBase).ok() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST_F(Chunks, KilledBeforeEveryOperationTheOldStepOrTheNewOneIsWhole) {
  auto with = [](std::int64_t step, double value) {
    Checkpoint c = adapter(step);
    c.parts["params"]["base.w"] = full(4 * kMany, value);
    return c;
  };
  // The new step takes over a chunk, adds one, and the removal of step 1 frees one.
  Checkpoint saved = with(3, 2);
  saved.parts["params"]["more"] = full(kMany, 7);
  int k = 1;
  for (int status = 9; status == 9; ++k) {
    ASSERT_LT(k, 200);
    fs::remove_all(root_);
    ASSERT_TRUE(save(root_, with(1, 1), {}, kBase).ok());
    ASSERT_TRUE(save(root_, with(2, 2), {}, kBase).ok());
    status = save_until(root_, saved, {.newest = 2}, k);
    ASSERT_TRUE(status == 9 || status == 0) << status;
    auto latest = load_latest(root_);
    ASSERT_TRUE(latest.ok() && latest->checkpoint);
    EXPECT_THAT(latest->damaged, IsEmpty()) << "killed before operation " << k;
    EXPECT_TRUE(equal(*latest->checkpoint, with(2, 2)) || equal(*latest->checkpoint, saved))
        << "killed before operation " << k;
    const auto all = *steps(root_);
    for (std::int64_t step : all)
      EXPECT_THAT(verify(fmt::format("{}/{}", root_, step)), IsEmpty()) << step << " at " << k;
    ASSERT_TRUE(save(root_, with(4, 2), {.newest = 1}, kBase).ok());
    EXPECT_THAT(chunks(), ElementsAre(name_of(full(4 * kMany, 2)))) << "after operation " << k;
    EXPECT_THAT(*list_folder(root_), ElementsAre("4", "chunks"));
  }
  EXPECT_GT(k, 14);
}

}  // namespace
}  // namespace strata::checkpoint
