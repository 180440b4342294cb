// Which rectangles a band meets, and the band of a product's rows and columns.
#include "strata/compile/kernel/gemm/gemm_mask_band.h"

#include <gtest/gtest.h>

#include "strata/compile/compile_testing.h"
#include "strata/loop/interpreter.h"
#include "strata/op/lowering_kind.h"
#include "strata/pass/dot/mask_sparsity.h"

namespace strata::compile {
namespace {

TEST(GemmMaskBand, MeetsWhatHasAnElementInIt) {
  constexpr std::int64_t kRows = 3, kColumns = 4, kMost = 20;
  for (const GemmMaskBand& band : {GemmMaskBand{-5, 0}, {0, 0}, {2, 7}, {-3, 2}}) {
    loop::Kernel kernel("meets");
    loop::Builder b(kernel);
    kernel.grid = kMost * kMost;
    loop::Ref* out = b.parameter(DType::i1, kMost * kMost, loop::Ref::Mode::out);
    b.store(out, b.grid(),
            band.meets(b, b.div(b.grid(), kMost), kRows, b.mod(b.grid(), kMost), kColumns));
    std::vector<char> got(static_cast<std::size_t>(kMost * kMost), 2);
    void* memory[] = {got.data()};
    loop::interpret(kernel, memory);
    for (std::int64_t row = 0; row < kMost; ++row)
      for (std::int64_t column = 0; column < kMost; ++column) {
        bool any = false;
        for (std::int64_t r = row; r < row + kRows; ++r)
          for (std::int64_t c = column; c < column + kColumns; ++c)
            any |= band.low <= c - r && c - r <= band.high;
        EXPECT_EQ(got[static_cast<std::size_t>(row * kMost + column)] != 0, any)
            << row << ", " << column << " of " << band.low << " to " << band.high;
      }
  }
}

TEST(GemmMaskBand, TurnsRoundWithTheProduct) {
  ir::Block block;
  ir::Builder b(block);
  ir::Value* product =
      op::dot_general(b, block.add_argument(Type(DType::f32, {50, 8})),
                      block.add_argument(Type(DType::f32, {8, 60})), {{}, {}, {1}, {0}});
  product->op()->attrs.set(pass::kMaskBand, ir::Ints{0, 1, -19, 3});
  const op::Contraction c = op::contraction_of(*product->op());
  const auto band = GemmMaskBand::of(*product->op(), c, false),
             turned = GemmMaskBand::of(*product->op(), c, true);
  ASSERT_TRUE(band && turned);
  EXPECT_EQ(std::pair(band->low, band->high), std::pair(std::int64_t{-19}, std::int64_t{3}));
  EXPECT_EQ(std::pair(turned->low, turned->high), std::pair(std::int64_t{-3}, std::int64_t{19}));
}

}  // namespace
}  // namespace strata::compile
