#include "strata/checkpoint/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "strata/base/file.h"
#include "strata/checkpoint/any_format.h"
#include "strata/checkpoint/testing/memory_bucket.h"

namespace strata::checkpoint {
namespace {

using testing::HasSubstr;
using testing_buckets::new_bucket;

Checkpoint sample() {
  Checkpoint c{7, {}, {{"loss", "0.5"}}};
  c.parts["params"]["w"] = Literal::full(Type(DType::f32, Shape{64}), 3);
  return c;
}

Status write_orbax(const std::string& path) {
  return any_format::write(path, sample(), any_format::Format::orbax);
}

class CheckTarget : public testing::TestWithParam<bool> {
 protected:
  CheckTarget() {
    if (GetParam()) new_bucket();
    if (!GetParam()) std::filesystem::remove_all(root_);
  }
  std::string root_ = GetParam() ? "mem://b/target" : testing::TempDir() + "target";
};

TEST_P(CheckTarget, TakesWhatIsNotThereAndCheckpoints) {
  const std::string path = root_ + "/a/7";
  EXPECT_TRUE(check_target(path).ok());
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(write_orbax(path).ok());
  EXPECT_TRUE(check_target(path).ok());
  ASSERT_TRUE(any_format::save(root_ + "/b", sample(), {}, any_format::Format::strata).ok());
  EXPECT_TRUE(check_target(root_ + "/b/7").ok());
}

TEST_P(CheckTarget, RefusesRunsFoldersOfStepsAndOtherFiles) {
  ASSERT_TRUE(any_format::save(root_ + "/run/checkpoints", sample(), {}).ok());
  ASSERT_TRUE(write_orbax(root_ + "/steps/7").ok());
  if (!GetParam()) ASSERT_TRUE(make_folders(root_ + "/other").ok());
  ASSERT_TRUE(write_file_atomic(root_ + "/other/thesis.txt", "words").ok());
  for (const char* name : {"/run", "/run/checkpoints", "/steps", "/other", ""}) {
    const Status s = write_orbax(root_ + name);
    EXPECT_EQ(s.code(), Code::exists) << name;
    EXPECT_THAT(s.message(), HasSubstr("which the checkpoint would replace")) << name;
  }
  EXPECT_THAT(write_orbax(root_ + "/run").message(), HasSubstr("is the folder of a run"));
  EXPECT_EQ(*read_file(root_ + "/other/thesis.txt"), "words");
  EXPECT_TRUE(any_format::find(root_ + "/run")->checkpoint);
  EXPECT_TRUE(any_format::find(root_ + "/steps")->checkpoint);
}

INSTANTIATE_TEST_SUITE_P(DiskAndBucket, CheckTarget, testing::Bool());

TEST(CheckTargetOnDisk, RefusesAFile) {
  const std::string path = testing::TempDir() + "target.txt";
  ASSERT_TRUE(write_file_atomic(path, "words").ok());
  EXPECT_THAT(write_orbax(path).message(), HasSubstr("is a file, which"));
  EXPECT_EQ(*read_file(path), "words");
}

TEST(CheckTargetInABucket, TakesWhatAnInterruptedSaveLeft) {
  bool finished = false;
  int request = 0;
  for (; request < 200 && !finished; ++request) {
    const auto bucket = new_bucket();
    bucket->fails_from = request;
    const Status hurt = write_orbax("mem://b/x");
    bucket->fails_from = -1;
    EXPECT_TRUE(check_target("mem://b/x").ok()) << request;
    EXPECT_TRUE(write_orbax("mem://b/x").ok()) << request;
    finished = hurt.ok();
  }
  EXPECT_TRUE(finished);
  EXPECT_GT(request, 10);
}

}  // namespace
}  // namespace strata::checkpoint
