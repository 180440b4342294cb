// The memory that a save and a load of Strata's own format take, as docs/checkpoints.md says.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "strata/checkpoint/checkpoint.h"

namespace strata::checkpoint {
namespace {

/// The process's peak of memory in MiB; with `again` counted from now on.
double peak_mib(bool again) {
  if (again) std::ofstream("/proc/self/clear_refs") << "5";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::atof(line.c_str() + 6) / 1024;
  return 0;
}

TEST(CheckpointMemory, AStateOf256MiBIsWrittenFromItsArraysAndReadOnce) {
  const std::string root = testing::TempDir() + "memory_of_a_save";
  std::filesystem::remove_all(root);
  Checkpoint c{1, {}, {}};
  Literal value(Type(DType::i32, Shape{2048, 1024}));
  std::uint32_t random = 1;
  for (std::int32_t& x : value.mutable_span<std::int32_t>())
    x = static_cast<std::int32_t>(random = random * 1664525 + 1013904223);
  for (int i = 0; i < 32; ++i) c.parts["params"]["w" + std::to_string(i)] = value;
  double before = peak_mib(true);
  ASSERT_TRUE(save(root, c, {}).ok());
  EXPECT_LT(peak_mib(false) - before, 16);
  before = peak_mib(true);
  {
    const auto read = load(root + "/1");
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_LT(peak_mib(false) - before, 256 + 16);
    EXPECT_TRUE(read->parts.at("params").at("w31").same_bits(value));
  }
  // The second step finds out what stays, which is written and read once more, in chunks.
  c.step = 2;
  before = peak_mib(true);
  ASSERT_TRUE(save(root, c, {}).ok());
  EXPECT_LT(peak_mib(false) - before, 32);
  before = peak_mib(true);
  ASSERT_TRUE(load(root + "/2").ok());
  EXPECT_LT(peak_mib(false) - before, 256 + 32);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace strata::checkpoint
