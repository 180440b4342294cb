#include "strata/checkpoint/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace strata::checkpoint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

Checkpoint sample(std::int64_t step, std::int64_t elements = 64) {
  Checkpoint c{step, {}, {}};
  c.parts["params"]["w"] =
      Literal::full(Type(DType::f32, Shape{elements}), static_cast<double>(step));
  return c;
}

class WriterTest : public testing::Test {
 protected:
  WriterTest() {
    std::string name = testing::TempDir() + "writer_XXXXXX";
    base_ = ::mkdtemp(name.data());
    root_ = base_ + "/checkpoints";
  }
  ~WriterTest() override { fs::remove_all(base_); }
  Writer writer(Keep keep = {}) {
    return Writer(root_, keep, [this](const std::string& folder) {
      EXPECT_TRUE(load(folder).ok()) << "said to be durable: " << folder;
      saved_.push_back(fs::path(folder).filename().string());
    });
  }
  std::string base_, root_;
  std::vector<std::string> saved_;
};

TEST_F(WriterTest, TellsWhatIsDurableOnceAndOnTheCallersThread) {
  Writer w = writer();
  const auto caller = std::this_thread::get_id();
  Writer other(base_ + "/other", {},
               [&](const std::string&) { EXPECT_EQ(std::this_thread::get_id(), caller); });
  ASSERT_TRUE(other.save(sample(1)).ok() && other.wait().ok());
  ASSERT_TRUE(w.save(sample(1)).ok());
  EXPECT_THAT(saved_, IsEmpty());
  while (saved_.empty()) ASSERT_TRUE(w.poll().ok());
  EXPECT_TRUE(w.poll().ok() && w.wait().ok());
  EXPECT_THAT(saved_, ElementsAre("1"));
}

TEST_F(WriterTest, OneAtATime) {
  Writer w = writer({.newest = 2});
  for (std::int64_t step = 1; step <= 5; ++step) {
    ASSERT_TRUE(w.save(sample(step, 1 << 16)).ok());
    EXPECT_EQ(saved_.size(), static_cast<std::size_t>(step - 1)) << "the one before is over";
  }
  EXPECT_TRUE(w.wait().ok());
  EXPECT_THAT(*steps(root_), ElementsAre(4, 5));
}

TEST_F(WriterTest, AFailureComesWithTheNextSaveWhichIsNotBegun) {
  std::ofstream(base_ + "/file") << "x";
  Writer w(base_ + "/file/checkpoints", {}, [](const std::string& folder) { FAIL() << folder; });
  ASSERT_TRUE(w.save(sample(1)).ok());
  const Status s = w.save(sample(2));
  EXPECT_FALSE(s.ok());
  EXPECT_THAT(s.message(), HasSubstr("file/checkpoints"));
  EXPECT_TRUE(w.wait().ok()) << "told once";
}

TEST_F(WriterTest, AnExceptionOnItsThreadIsRethrownHere) {
  Checkpoint c = sample(1);
  c.notes["config"] = "not JSON";
  Writer w = writer();
  ASSERT_TRUE(w.save(std::move(c)).ok());
  EXPECT_THROW((void)w.wait().ok(), std::exception);
  EXPECT_TRUE(w.save(sample(2)).ok() && w.wait().ok());
}

TEST_F(WriterTest, TheSnapshotsMemoryGoesWhenItIsWritten) {
  Writer w = writer();
  std::weak_ptr<std::byte[]> memory;
  {
    Checkpoint c = sample(1);
    memory = c.parts["params"]["w"].storage();
    ASSERT_TRUE(w.save(std::move(c)).ok());
  }
  while (!memory.expired()) std::this_thread::yield();  // nobody asked the writer
  EXPECT_TRUE(w.wait().ok());
  EXPECT_THAT(saved_, ElementsAre("1"));
}

TEST_F(WriterTest, ItsEndIsTheEndOfTheSave) {
  {
    (void)writer().save(sample(1, 1 << 20)).ok();
  }
  EXPECT_TRUE(load(root_ + "/1").ok());
}

}  // namespace
}  // namespace strata::checkpoint
