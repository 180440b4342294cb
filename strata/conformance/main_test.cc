// The tests of this room alone: the objects that hold samples of operations bring tests of theirs,
// which op_test runs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace {

bool is_ours(const testing::TestInfo& test) {
  return std::string(test.file()).find("strata/conformance/") != std::string::npos;
}

/// Our tests, separated by colons.
std::string ours() {
  std::string out;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t)
      if (is_ours(*suite.GetTestInfo(t)))
        out += std::string(suite.name()) + "." + suite.GetTestInfo(t)->name() + ":";
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  ::setenv("STRATA_CACHE_DIR", "", /*overwrite=*/0);  // what is tested is compiled anew
  ::setenv("STRATA_CPU", "native,-avx512bf16,-amx-bf16",
           /*overwrite=*/0);  // products of bf16 with the reference's bits (docs/exceptions.md)
  testing::InitGoogleTest(&argc, argv);
  if (GTEST_FLAG_GET(filter) == "*") GTEST_FLAG_SET(filter, ours());
  return RUN_ALL_TESTS();
}
