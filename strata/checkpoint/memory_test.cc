// The memory that a save and a load of Strata's own format take, as docs/checkpoints.md says.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "strata/base/testing/peak_memory.h"
#include "strata/checkpoint/checkpoint.h"

namespace strata::checkpoint {
namespace {

TEST(CheckpointMemory, AStateOf256MiBIsWrittenFromItsArraysAndReadOnce) {
  const std::string root = testing::TempDir() + "memory_of_a_save";
  std::filesystem::remove_all(root);
  Checkpoint c{1, {}, {}};
  Literal value(Type(DType::i32, Shape{2048, 1024}));
  std::uint32_t random = 1;
  for (std::int32_t& x : value.mutable_span<std::int32_t>())
    x = static_cast<std::int32_t>(random = random * 1664525 + 1013904223);
  for (int i = 0; i < 32; ++i) c.parts["params"]["w" + std::to_string(i)] = value;
  forget_peak();
  double before = peak_mib();
  ASSERT_TRUE(save(root, c, {}).ok());
  EXPECT_LT(peak_mib() - before, 16);
  forget_peak();
  before = peak_mib();
  {
    const auto read = load(root + "/1");
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_LT(peak_mib() - before, 256 + 16);
    EXPECT_TRUE(read->parts.at("params").at("w31").same_bits(value));
  }
  // The second step finds out what stays, which is written and read once more, in chunks.
  c.step = 2;
  forget_peak();
  before = peak_mib();
  ASSERT_TRUE(save(root, c, {}).ok());
  EXPECT_LT(peak_mib() - before, 32);
  forget_peak();
  before = peak_mib();
  ASSERT_TRUE(load(root + "/2").ok());
  EXPECT_LT(peak_mib() - before, 256 + 32);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace strata::checkpoint
