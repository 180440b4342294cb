#include "strata/base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <future>

namespace strata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string name = testing::TempDir() + "file_XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~FileTest() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(FileTest, WhatIsWrittenIsRead) {
  const std::string bytes("a\0b\n", 4);
  ASSERT_TRUE(write_file_atomic(folder_ + "/x", bytes).ok());
  EXPECT_EQ(*read_file(folder_ + "/x"), bytes);
  EXPECT_THAT(*list_folder(folder_), ElementsAre("x"));
}

TEST_F(FileTest, FailuresNameThePathAndTheReason) {
  EXPECT_EQ(read_file(folder_ + "/absent").status().code(), Code::not_found);
  EXPECT_THAT(read_file(folder_ + "/absent").status().message(),
              HasSubstr("/absent: cannot open: No such file"));
  EXPECT_THAT(read_file(folder_).status().message(), HasSubstr("is a folder"));
  EXPECT_FALSE(write_file_atomic(folder_ + "/no/folder", "x").ok());
  EXPECT_EQ(list_folder(folder_ + "/absent").status().code(), Code::not_found);
}

TEST_F(FileTest, ALinkStaysAndItsFileIsWritten) {
  namespace fs = std::filesystem;
  ASSERT_TRUE(make_folders(folder_ + "/there").ok());
  ASSERT_TRUE(write_file_atomic(folder_ + "/there/x", "old").ok());
  fs::create_symlink("there/x", folder_ + "/link");
  fs::create_symlink("link", folder_ + "/second");
  ASSERT_TRUE(write_file_atomic(folder_ + "/second", "new").ok());
  EXPECT_EQ(*read_file(folder_ + "/there/x"), "new");
  EXPECT_TRUE(fs::is_symlink(folder_ + "/second") && fs::is_symlink(folder_ + "/link"));
  EXPECT_THAT(*list_folder(folder_ + "/there"), ElementsAre("x"));
  fs::create_symlink("there/y", folder_ + "/dangling");
  ASSERT_TRUE(write_file_atomic(folder_ + "/dangling", "first").ok());
  EXPECT_EQ(*read_file(folder_ + "/there/y"), "first");
  fs::create_symlink("round", folder_ + "/round");
  EXPECT_THAT(write_file_atomic(folder_ + "/round", "x").message(), HasSubstr("/round: cannot"));
  EXPECT_TRUE(fs::is_symlink(folder_ + "/round"));
}

TEST_F(FileTest, PermissionsStay) {
  namespace fs = std::filesystem;
  ASSERT_TRUE(write_file_atomic(folder_ + "/x", "old").ok());
  fs::permissions(folder_ + "/x", fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(write_file_atomic(folder_ + "/x", "new").ok());
  EXPECT_EQ(fs::status(folder_ + "/x").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FileTest, PipesAndDevicesAreWrittenThrough) {
  namespace fs = std::filesystem;
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  auto read = std::async(std::launch::async, [&] { return read_file(pipe); });
  EXPECT_TRUE(write_file_atomic(pipe, "through").ok());
  EXPECT_EQ(*read.get(), "through");
  EXPECT_TRUE(fs::is_fifo(pipe));
  fs::create_symlink("/dev/full", folder_ + "/full");
  const Status full = write_file_atomic(folder_ + "/full", "x");
  EXPECT_EQ(full.code(), Code::no_space);
  EXPECT_THAT(full.message(), HasSubstr("/full: cannot write: No space left"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_TRUE(write_file_atomic("/dev/null", "x").ok());
}

TEST_F(FileTest, NamesOfDescriptorsAreDescriptors) {
  const int file = ::open((folder_ + "/x").c_str(), O_WRONLY | O_CREAT, 0644);
  ASSERT_EQ(::write(file, "one ", 4), 4);
  EXPECT_TRUE(write_file_atomic(fmt::format("/dev/fd/{}", file), "two ").ok());
  ASSERT_EQ(::write(file, "three", 5), 5);
  ::close(file);
  EXPECT_EQ(*read_file(folder_ + "/x"), "one two three");
}

TEST_F(FileTest, FoldersChangePlaces) {
  ASSERT_TRUE(make_folders(folder_ + "/a").ok() && make_folders(folder_ + "/b").ok());
  ASSERT_TRUE(write_file_synced(folder_ + "/a/new", "").ok() &&
              write_file_synced(folder_ + "/b/old", "").ok());
  ASSERT_TRUE(exchange_synced(folder_ + "/a", folder_ + "/b").ok());
  EXPECT_THAT(*list_folder(folder_ + "/b"), ElementsAre("new"));
  EXPECT_THAT(*list_folder(folder_ + "/a"), ElementsAre("old"));
  ASSERT_TRUE(exchange_synced(folder_ + "/b", folder_ + "/c").ok());
  EXPECT_THAT(*list_folder(folder_), ElementsAre("a", "c"));
}

TEST_F(FileTest, RemovingWhatIsNotThereIsNoFailure) {
  EXPECT_TRUE(remove_all(folder_ + "/absent").ok());
  ASSERT_TRUE(make_folders(folder_ + "/a/b/c").ok());
  EXPECT_TRUE(remove_all(folder_ + "/a").ok());
  EXPECT_FALSE(file_exists(folder_ + "/a"));
}

TEST_F(FileTest, LinesAreAdded) {
  const std::string path = folder_ + "/lines";
  for (const char* line : {"one", "two"}) {
    auto writer = LineWriter::open(path);
    ASSERT_TRUE(writer.ok() && writer->add(line).ok() && writer->sync().ok());
  }
  EXPECT_EQ(*read_file(path), "one\ntwo\n");
}

TEST_F(FileTest, ALockIsHeldOnce) {
  {
    auto first = FileLock::take(folder_ + "/lock");
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(FileLock::take(folder_ + "/lock").status().code(), Code::exists);
  }
  EXPECT_TRUE(FileLock::take(folder_ + "/lock").ok());
}

TEST_F(FileTest, PiecesLieOneBehindTheOther) {
  const std::string large(9 << 20, 'x');  // more than one write takes
  const std::vector<std::string_view> pieces = {"first", "", large, "last"};
  ASSERT_TRUE(write_file_synced(folder_ + "/pieces", pieces).ok());
  EXPECT_EQ(*read_file(folder_ + "/pieces"), "first" + large + "last");
}

}  // namespace
}  // namespace strata
