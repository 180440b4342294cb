// Products with packed blocks by integers: every instruction set gives the same bits, and they are
// the products of the numbers and of x as it was rounded.
#include "strata/loop/kernel/block/block_int8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "strata/loop/testing/random_blocks.h"

namespace strata::loop::block8 {
namespace {

struct Sizes {
  std::int64_t batch, rows, out, blocks, chunk;
};

struct Case {
  Case(BlockFormat f, const Sizes& s, std::mt19937& random)
      : f(f),
        s(s),
        in(s.blocks * f.elements()),
        w(testing::random_blocks(f, s.batch * s.out * s.blocks, random)),
        x(static_cast<std::size_t>(s.batch * s.rows * in)) {
    for (float& v : x) v = std::normal_distribution<float>()(random);
  }
  std::vector<float> products(const InstructionSet& set) {
    std::vector<float> y(static_cast<std::size_t>(s.batch * s.rows * s.out));
    std::int64_t params[] = {
        static_cast<std::int64_t>(f.kind()), s.batch, s.rows, s.out, s.blocks, s.chunk};
    void* buffers[] = {x.data(), w.data(), y.data(), params};
    run(set, buffers, 0, s.batch * ((s.out + s.chunk - 1) / s.chunk));
    return y;
  }

  BlockFormat f;
  Sizes s;
  std::int64_t in;
  std::vector<std::uint8_t> w;
  std::vector<float> x;
};

constexpr Sizes kSizes[] = {{1, 1, 9, 3, 4}, {2, 7, 11, 2, 6},   {1, 13, 3, 1, 12},
                            {1, 1, 1, 1, 1}, {1, 15, 37, 2, 16}, {1, 1, 37, 3, 48},
                            {3, 2, 5, 0, 2}};

TEST(BlockInt8, EveryInstructionSetHasTheSameBits) {
  std::mt19937 random(50);
  for (const BlockLayout& layout : kBlockLayouts)
    for (const Sizes& s : kSizes) {
      Case c(layout.kind, s, random);
      const std::vector<float> want = c.products(kPortable);
      for (const InstructionSet* set : {&kAvx2, &kVnni}) {
        if (!set->present()) continue;
        const std::vector<float> got = c.products(*set);
        ASSERT_EQ(std::memcmp(got.data(), want.data(), want.size() * sizeof(float)), 0)
            << layout.name << " by " << set->name;
      }
    }
}

TEST(BlockInt8, AreProductsOfTheNumbersAndRoundedX) {
  std::mt19937 random(51);
  for (const BlockLayout& layout : kBlockLayouts)
    for (const Sizes& s : kSizes) {
      Case c(layout.kind, s, random);
      const std::vector<float> got = c.products(instruction_set());
      std::vector<float> numbers(static_cast<std::size_t>(s.batch * s.out * c.in));
      c.f.dequantize(c.w.data(), s.batch * s.out * s.blocks, numbers.data());
      std::vector<Group> groups(c.x.size() / 32);
      instruction_set().round(c.x.data(), std::ssize(groups), groups.data());
      for (std::int64_t i = 0; i < s.batch * s.rows; ++i)
        for (std::int64_t o = 0; o < s.out; ++o) {
          double sum = 0, size = 0;
          for (std::int64_t k = 0; k < c.in; ++k) {
            const auto g = static_cast<std::size_t>((i * c.in + k) / 32);
            const double x =
                static_cast<double>(groups[g].n[k % 32]) * static_cast<double>(groups[g].scale);
            const double w = static_cast<double>(
                numbers[static_cast<std::size_t>((i / s.rows * s.out + o) * c.in + k)]);
            sum += x * w, size += std::abs(x * w);
            EXPECT_NEAR(x, static_cast<double>(c.x[g * 32 + static_cast<std::size_t>(k % 32)]),
                        0.5001 * static_cast<double>(groups[g].scale));
          }
          ASSERT_NEAR(static_cast<double>(got[static_cast<std::size_t>(i * s.out + o)]), sum,
                      1e-5 * size + 1e-30)
              << layout.name;
        }
    }
}

TEST(BlockInt8, ExtremesOfBothSides) {
  // Levels of -128 and n of -127 and 127 do not overflow.
  std::mt19937 random(52);
  Case c(BlockKind::q8_0, {1, 1, 2, 2, 1}, random);
  const std::uint16_t one = 0x3c00;
  for (std::size_t block = 0; block < 4; ++block) {
    std::memcpy(&c.w[block * 34], &one, 2);
    std::memset(&c.w[block * 34 + 2], block % 2 == 0 ? 0x80 : 0x7f, 32);
  }
  for (std::size_t k = 0; k < c.x.size(); ++k) c.x[k] = k < 32 ? -2.0f : 2.0f;
  for (const InstructionSet* set : {&kPortable, &kAvx2, &kVnni})
    if (set->present()) {
      const std::vector<float> y = c.products(*set);
      EXPECT_FLOAT_EQ(y[0], 32 * 2.0f * (128 + 127)) << set->name;
      EXPECT_EQ(y[0], y[1]);
    }
  // What is not a number gives none.
  c.x[5] = NAN;
  EXPECT_TRUE(std::isnan(c.products(instruction_set())[0]));
}

}  // namespace
}  // namespace strata::loop::block8
