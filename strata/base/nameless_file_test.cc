// Files without a name: written and read, gone when closed, and refused where no folder is.
#include "strata/base/nameless_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace strata {
namespace {

/// TMPDIR for as long as this lives.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& path) {
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", path.c_str(), 1);
  }
  ~TemporaryFolder() {
    if (before_)
      ::setenv("TMPDIR", before_->c_str(), 1);
    else
      ::unsetenv("TMPDIR");
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

 private:
  std::optional<std::string> before_;
};

TEST(NamelessFile, HoldsBytesAndLeavesNothing) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "nameless_file";
  std::filesystem::create_directories(folder);
  {
    TemporaryFolder here(folder.string());
    Result<int> fd = nameless_file();
    ASSERT_TRUE(fd) << fd.status().message();
    ASSERT_EQ(::write(*fd, "bytes", 5), 5);
    char read[5];
    ASSERT_EQ(::pread(*fd, read, 5, 0), 5);
    EXPECT_EQ(std::string(read, 5), "bytes");
    EXPECT_TRUE(std::filesystem::is_empty(folder));
    ::close(*fd);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
}

TEST(NamelessFile, NamesTheFolderThatIsNotThere) {
  TemporaryFolder nowhere("/nowhere/at/all");
  Result<int> fd = nameless_file();
  ASSERT_FALSE(fd);
  EXPECT_NE(fd.status().message().find("/nowhere/at/all"), std::string::npos)
      << fd.status().message();
  EXPECT_NE(fd.status().message().find("TMPDIR"), std::string::npos) << fd.status().message();
}

}  // namespace
}  // namespace strata
