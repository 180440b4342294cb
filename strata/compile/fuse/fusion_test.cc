#include <gtest/gtest.h>

#include "strata/compile/fuse/fuse.h"
#include "strata/op/build.h"

namespace strata::compile {
namespace {

/// How many results of a program go past the caches: `rows` of 1024 f32 from one number each; also
/// given on to a sum, or of a type that an argument has.
enum class Reader : std::uint8_t { nobody, a_kernel, the_next_call };
std::size_t unread(std::int64_t rows, Reader reader) {
  ir::Block block;
  ir::Builder b(block);
  ir::Value* row = block.add_argument(Type(DType::f32, {rows}));
  if (reader == Reader::the_next_call) block.add_argument(Type(DType::f32, {rows, 1024}));
  ir::Value* all = op::exp(b, op::broadcast_in_dim(b, row, {rows, 1024}, {0}));
  block.results = {all};
  if (reader == Reader::a_kernel)
    block.results.push_back(op::slice(b, op::transpose(b, all, {1, 0}), {0, 0}, {1024, 5}));
  return fuse(block).streaming_results.size();
}

TEST(Fusion, ResultsThatCachesDoNotKeepGoPastThem) {
  EXPECT_EQ(unread(16 << 8, Reader::nobody), 0u);
  EXPECT_EQ(unread(24 << 8, Reader::nobody), 1u);
  EXPECT_EQ(unread(24 << 8, Reader::the_next_call), 0u);
  EXPECT_EQ(unread(40 << 8, Reader::the_next_call), 1u);
  EXPECT_EQ(unread(40 << 8, Reader::a_kernel), 0u);
}

}  // namespace
}  // namespace strata::compile
