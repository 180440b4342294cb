#include "strata/base/memory/out_of_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using testing::StartsWith;

TEST(OutOfMemory, SaysWhatWasRequestedAndWhatIsThere) {
  const std::size_t available = available_memory();
  EXPECT_GT(available, std::size_t{1} << 20);
  EXPECT_LT(available, std::size_t{1} << 50);
  const OutOfMemory e(std::size_t{1} << 44);
  EXPECT_THAT(message_of(e),
              StartsWith("out of memory: 17592186044416 bytes (16 TiB) requested, "));
  EXPECT_THAT(message_of(e), testing::EndsWith(" available"));
  EXPECT_EQ(message_of(std::bad_alloc()), "out of memory");
}

TEST(OutOfMemory, BytesAreReadable) {
  EXPECT_EQ(bytes_text(1536), "1536 bytes (1.5 KiB)");
  EXPECT_EQ(bytes_text(std::size_t{3} << 30), "3221225472 bytes (3 GiB)");
}

}  // namespace
}  // namespace strata
