#include "strata/type/literals_in_files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "strata/type/literal.h"

namespace strata {
namespace {

/// Whether an address is of a mapped file.
bool is_in_file(const void* p) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto begin = std::stoull(line, nullptr, 16);
    const auto end = std::stoull(line.substr(line.find('-') + 1), nullptr, 16);
    const auto at = reinterpret_cast<std::uintptr_t>(p);
    if (at >= begin && at < end) return line.find("(deleted)") != std::string::npos;
  }
  return false;
}

Literal counted(std::int64_t n) {
  Literal out(Type(DType::f32, Shape{n}));
  for (std::int64_t i = 0; i < n; ++i) {
    EXPECT_EQ(out.number(i), 0);
    reinterpret_cast<float*>(out.mutable_data())[i] = static_cast<float>(i % 1000);
  }
  return out;
}

TEST(LiteralsInFiles, LargeOnesAreInFilesWhileAScopeLives) {
  Literal kept;
  {
    LiteralsInFiles scope(4096);
    kept = counted(5000);
    EXPECT_TRUE(is_in_file(kept.data()));
    EXPECT_FALSE(is_in_file(counted(1000).data()));
    {
      LiteralsInFiles inner(1 << 20);
      EXPECT_FALSE(is_in_file(counted(5000).data()));
    }
    EXPECT_TRUE(is_in_file(counted(1024).data()));
  }
  EXPECT_FALSE(is_in_file(counted(5000).data()));
  EXPECT_EQ(kept.number(4999), 999);  // outlives the scope
}

TEST(LiteralsInFiles, MemoryIsUsedWhereNoFileCanBe) {
  const char* before = std::getenv("TMPDIR");
  const std::string old = before ? before : "";
  ::setenv("TMPDIR", "/nowhere", 1);
  {
    LiteralsInFiles scope(4096);
    EXPECT_FALSE(is_in_file(counted(5000).data()));
  }
  before ? ::setenv("TMPDIR", old.c_str(), 1) : ::unsetenv("TMPDIR");
}

}  // namespace
}  // namespace strata
