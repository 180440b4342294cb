#include "strata/base/large_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "strata/base/file.h"

namespace strata {
namespace {

TEST(LargeFile, IsThereWhenItIsWhole) {
  const std::string path = testing::TempDir() + "large_file";
  ASSERT_TRUE(remove_all(path).ok());
  {
    auto left = FileWriter::create(path);
    ASSERT_TRUE(left->write("a part").ok());
  }
  EXPECT_FALSE(file_exists(path));
  EXPECT_FALSE(file_exists(path + ".tmp"));
  auto writer = FileWriter::create(path);
  ASSERT_TRUE(writer->write("all ").ok());
  ASSERT_TRUE(writer->write("of it").ok());
  EXPECT_FALSE(file_exists(path));
  EXPECT_EQ(writer->written(), 9u);
  ASSERT_TRUE(writer->commit().ok());
  EXPECT_EQ(*read_file(path), "all of it");
  EXPECT_FALSE(file_exists(path + ".tmp"));
}

TEST(LargeFile, IsReadWhereItLies) {
  const std::string path = testing::TempDir() + "large_file_mapped";
  std::string text;
  for (int i = 0; i < 40000; ++i) text += static_cast<char>('a' + i % 26);
  ASSERT_TRUE(write_file_atomic(path, text).ok());
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ((*file)->bytes(), text);
  (*file)->release((*file)->bytes().substr(100, 20000));
  (*file)->release((*file)->bytes().substr(3, 1));
  EXPECT_EQ((*file)->bytes(), text);
  ASSERT_TRUE(write_file_atomic(path, "").ok());
  EXPECT_EQ((*MappedFile::open(path))->bytes(), "");
}

TEST(LargeFile, SaysWhatFailed) {
  EXPECT_EQ(MappedFile::open("/nowhere/f").status().code(), Code::not_found);
  EXPECT_EQ(MappedFile::open(testing::TempDir()).status().code(), Code::invalid);
  EXPECT_EQ(FileWriter::create("/nowhere/f").status().code(), Code::not_found);
}

}  // namespace
}  // namespace strata
