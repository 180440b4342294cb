// Tiles cover a block's rows once, whatever the blocks end with.
#include "strata/compile/kernel/gemm/gemm_axis.h"

#include <gtest/gtest.h>

#include "strata/loop/interpreter.h"
#include "strata/loop/verify.h"

namespace strata::compile {
namespace {

struct Case {
  std::int64_t total, block, tile;
};

// One block with and without a shorter tile, several of whole tiles of which the last ends so, and
// equal ones that all do.
TEST(GemmAxis, TilesCoverAllBlocksOnce) {
  for (const Case& c : {Case{32, 32, 8},
                        {29, 29, 8},
                        {5, 5, 8},
                        {64, 16, 8},
                        {70, 16, 8},
                        {66, 16, 8},
                        {90, 30, 8},
                        {36, 12, 8},
                        {21, 7, 8}}) {
    loop::Kernel kernel("tiles");
    loop::Builder b(kernel);
    kernel.grid = GemmAxis{0, c.total, c.block, c.tile}.blocks();
    const GemmAxis axis{b.grid(), c.total, c.block, c.tile};
    loop::Ref* out = b.parameter(DType::i64, c.total, loop::Ref::Mode::inout);
    each_tile(b, axis, [&](const GemmAxisRange& piece) {
      b.for_(0, piece.length, 1, [&](Index i) {  // its place, and one more for each that covers it
        Inst* place = b.value((axis.begin() + piece.local + i) * 10);
        b.store(out, piece.place + i,
                b.binary(loop::Opcode::add, b.load(out, piece.place + i),
                         b.binary(loop::Opcode::add, place, b.constant_int(DType::i64, 1))));
      });
    });
    ASSERT_TRUE(loop::verify(kernel).ok()) << loop::verify(kernel).message();
    std::vector<std::int64_t> got(static_cast<std::size_t>(c.total), 0), want;
    for (std::int64_t i = 0; i < c.total; ++i) want.push_back(10 * i + 1);
    void* memory[] = {got.data()};
    loop::interpret(kernel, memory);
    EXPECT_EQ(got, want) << c.total << " in blocks of " << c.block << " and tiles of " << c.tile;
  }
}

}  // namespace
}  // namespace strata::compile
