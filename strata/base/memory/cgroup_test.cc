#include "strata/base/memory/cgroup.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace strata {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

/// Groups of the test's own.
class Cgroups : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  std::size_t left(const std::string& groups) { return left_of_cgroups(groups, root_); }
  const std::filesystem::path root_ = std::filesystem::path(testing::TempDir()) / "cgroups";
};

TEST_F(Cgroups, OfVersionTwoTheTightestCounts) {
  write("job/memory.max", "1000");
  write("job/memory.current", "300");
  write("job/memory.stat", "anon 200\ninactive_file 100");
  write("job/part/memory.max", "max");
  write("job/part/memory.current", "300");
  EXPECT_EQ(left("0::/job/part\n"), 800u);
  write("job/part/memory.max", "500");
  EXPECT_EQ(left("0::/job/part\n"), 200u);
}

TEST_F(Cgroups, OfVersionOneTooAlsoInAContainer) {
  write("memory/memory.limit_in_bytes", "4000");
  write("memory/memory.usage_in_bytes", "5000");
  write("memory/memory.stat", "total_inactive_file 2000");
  EXPECT_EQ(left("4:memory:/not/seen/here\n3:cpuset:/\n"), 1000u);
}

TEST_F(Cgroups, NoLimitIsNone) {
  EXPECT_EQ(left(""), kNoLimit);
  EXPECT_EQ(left("0::/\nnonsense"), kNoLimit);
  EXPECT_GT(left_of_cgroups(), 0u);
}

}  // namespace
}  // namespace strata
