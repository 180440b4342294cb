// Products with packed blocks: every instruction set gives the bits of the order that
// kernel/block_dot.h states, whatever is computed together.
#include "strata/loop/kernel/block/block_dot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "strata/loop/testing/random_blocks.h"

namespace strata::loop::block {
namespace {

std::vector<const InstructionSet*> present() {
  std::vector<const InstructionSet*> out;
  for (const InstructionSet* set : {&kPortable, &kAvx2, &kAvx512})
    if (set->present()) out.push_back(set);
  return out;
}

struct Sizes {
  std::int64_t batch, rows, out, blocks, chunk;
};

/// The order, said once.
float in_order(const float* x, const float* w, std::int64_t in) {
  float s[32] = {};
  for (std::int64_t k = 0; k < in; ++k) s[k % 32] = std::fma(w[k], x[k], s[k % 32]);
  for (int half = 16; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) s[l] += s[l + half];
  return s[0];
}

void check(BlockFormat f, const Sizes& s, std::mt19937& random) {
  const std::int64_t in = s.blocks * f.elements();
  const auto w = testing::random_blocks(f, s.batch * s.out * s.blocks, random);
  std::vector<float> x(static_cast<std::size_t>(s.batch * s.rows * in)),
      numbers(static_cast<std::size_t>(s.batch * s.out * in));
  for (float& v : x) v = std::normal_distribution<float>()(random);
  f.dequantize(w.data(), s.batch * s.out * s.blocks, numbers.data());
  for (const InstructionSet* set : present()) {
    std::vector<float> decoded(numbers.size()),
        y(static_cast<std::size_t>(s.batch * s.rows * s.out));
    set->decode[static_cast<int>(f.kind())](w.data(), s.batch * s.out * s.blocks, decoded.data());
    ASSERT_EQ(std::memcmp(decoded.data(), numbers.data(), numbers.size() * sizeof(float)), 0)
        << f.name() << " by " << set->name;
    const std::int64_t params[] = {
        static_cast<std::int64_t>(f.kind()), s.batch, s.rows, s.out, s.blocks, s.chunk};
    void* buffers[] = {x.data(), const_cast<std::uint8_t*>(w.data()), y.data(),
                       const_cast<std::int64_t*>(params)};
    run(*set, buffers, 0, s.batch * ((s.out + s.chunk - 1) / s.chunk));
    for (std::int64_t b = 0; b < s.batch; ++b)
      for (std::int64_t i = 0; i < s.rows; ++i)
        for (std::int64_t o = 0; o < s.out; ++o) {
          const float want = in_order(&x[static_cast<std::size_t>((b * s.rows + i) * in)],
                                      &numbers[static_cast<std::size_t>((b * s.out + o) * in)], in);
          const float got = y[static_cast<std::size_t>((b * s.rows + i) * s.out + o)];
          ASSERT_EQ(std::memcmp(&want, &got, 4), 0)
              << f.name() << " by " << set->name << " [" << b << "," << i << "," << o
              << "]: " << got << " and " << want;
        }
  }
}

TEST(BlockDot, BitsOfTheOrder) {
  std::mt19937 random(48);
  for (const BlockLayout& layout : kBlockLayouts)
    for (const Sizes& s : {Sizes{1, 1, 9, 3, 4}, Sizes{2, 7, 11, 2, 6}, Sizes{1, 13, 3, 1, 12},
                           Sizes{1, 1, 1, 1, 1}, Sizes{3, 2, 5, 0, 2}})
      check(layout.kind, s, random);
}

/// One chain over the rows of w, for each instruction set.
void check_transposed(BlockFormat f, const Sizes& s, std::mt19937& random) {
  const std::int64_t in = s.blocks * f.elements();
  const auto w = testing::random_blocks(f, s.batch * s.out * s.blocks, random);
  std::vector<float> g(static_cast<std::size_t>(s.batch * s.rows * s.out)),
      numbers(static_cast<std::size_t>(s.batch * s.out * in));
  for (float& v : g) v = std::normal_distribution<float>()(random);
  f.dequantize(w.data(), s.batch * s.out * s.blocks, numbers.data());
  std::vector<float> want(static_cast<std::size_t>(s.batch * s.rows * in));
  for (std::int64_t i = 0; i < s.batch * s.rows; ++i)
    for (std::int64_t o = 0; o < s.out; ++o)
      for (std::int64_t k = 0; k < in; ++k) {
        float& y = want[static_cast<std::size_t>(i * in + k)];
        y = std::fma(numbers[static_cast<std::size_t>((i / s.rows * s.out + o) * in + k)],
                     g[static_cast<std::size_t>(i * s.out + o)], y);
      }
  for (const InstructionSet* set : present()) {
    std::vector<float> y(want.size(), 7);
    const std::int64_t params[] = {
        static_cast<std::int64_t>(f.kind()), s.batch, s.rows, s.out, s.blocks, s.chunk};
    void* buffers[] = {g.data(), const_cast<std::uint8_t*>(w.data()), y.data(),
                       const_cast<std::int64_t*>(params)};
    const std::int64_t rows = (s.rows + kTransposedRows - 1) / kTransposedRows;
    run_transposed(*set, buffers, 0, s.batch * rows * ((s.blocks + s.chunk - 1) / s.chunk));
    ASSERT_EQ(std::memcmp(y.data(), want.data(), y.size() * sizeof(float)), 0)
        << f.name() << " by " << set->name;
  }
}

TEST(BlockDot, TransposedBitsOfTheOrder) {
  std::mt19937 random(50);
  for (const BlockLayout& layout : kBlockLayouts)
    for (const Sizes& s : {Sizes{1, 1, 9, 3, 1}, Sizes{2, 7, 11, 2, 4}, Sizes{1, 13, 70, 5, 2},
                           Sizes{1, 3, 0, 2, 1}})
      check_transposed(layout.kind, s, random);
  check_transposed(BlockKind::q4_0, {2, 300, 40, 5, 4}, random);
}

TEST(BlockDot, ManyRows) {
  std::mt19937 random(49);
  check(BlockKind::q4_k, {1, 300, 14, 2, 6}, random);
  check(BlockKind::q8_0, {1, 37, 50, 33, 12}, random);
}

}  // namespace
}  // namespace strata::loop::block
