// Products by tiles: the plain twin against the definition, and the processor's tiles against the
// plain twin, bit for bit.
#include "strata/loop/tiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "strata/loop/interpreter.h"
#include "strata/loop/loop.h"
#include "strata/loop/verify.h"

namespace strata::loop {
namespace {

using Words = std::vector<std::uint32_t>;

struct Case {
  std::int64_t rows, columns, steps;
  std::int64_t c_pitch() const { return columns + 16; }
  std::int64_t a_pitch() const { return 16 * steps + 32; }
  std::int64_t b_pitch() const { return columns + 48; }
};

/// Pairs of bf16: of small integers, or any bits (subnormal, infinite and NaN among them).
Words pairs(std::int64_t n, unsigned seed, bool any_bits) {
  std::mt19937 random(seed);
  Words out;
  auto one = [&]() -> std::uint32_t {
    if (any_bits) return random() & 0xffff;
    float f = static_cast<float>(static_cast<int>(random() % 9) - 4);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &f, 4);
    return bits >> 16;
  };
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint32_t low = one();
    out.push_back(low | one() << 16);
  }
  return out;
}
float half(std::uint32_t pair, bool high) {
  std::uint32_t bits = high ? pair & 0xffff0000u : pair << 16;
  float f = 0;
  std::memcpy(&f, &bits, 4);
  return f;
}

std::vector<float> plain(const Case& s, std::vector<float> c, Words a, Words b, bool first) {
  const std::vector<std::int64_t> room{std::ssize(c) * 4, std::ssize(a) * 4, std::ssize(b) * 4};
  run_on_places(kTileProduct, {c.data(), a.data(), b.data()},
                {s.c_pitch(), s.a_pitch(), s.b_pitch(), s.rows, s.columns, s.steps, first}, room);
  return c;
}
Words a_of(const Case& s, unsigned seed, bool any_bits) {
  return pairs(s.rows * s.a_pitch(), seed, any_bits);
}
Words b_of(const Case& s, unsigned seed, bool any_bits) {
  return pairs(16 * s.steps * s.b_pitch(), seed, any_bits);
}
std::vector<float> c_of(const Case& s) {
  std::vector<float> c;
  for (std::int64_t i = 0; i < s.rows * s.c_pitch(); ++i)
    c.push_back(static_cast<float>(i % 17 - 8));
  return c;
}

const Case kCases[] = {{16, 16, 1}, {16, 32, 3}, {32, 16, 2},
                       {48, 80, 5}, {64, 64, 8}, {16, 16, 0}};

TEST(Tiles, PlainTwinIsTheDefinitionWhereNothingRounds) {
  for (const Case& s : kCases)
    for (bool first : {true, false}) {
      Words a = a_of(s, 1, false), b = b_of(s, 2, false);
      std::vector<float> before = c_of(s), got = plain(s, before, a, b, first);
      for (std::int64_t m = 0; m < s.rows; ++m)
        for (std::int64_t n = 0; n < s.c_pitch(); ++n) {
          auto at = static_cast<std::size_t>(m * s.c_pitch() + n);
          double want = n >= s.columns || !first ? before[at] : 0;
          for (std::int64_t k = 0; n < s.columns && k < 32 * s.steps; ++k)
            want += half(a[static_cast<std::size_t>(m * s.a_pitch() + k / 2)], k % 2) *
                    half(b[static_cast<std::size_t>(k / 2 * s.b_pitch() + n)], k % 2);
          ASSERT_EQ(got[at], want) << m << " " << n;
        }
    }
}

TEST(Tiles, SubnormalNumbersAreZero) {
  const Case s{16, 16, 1};
  Words a(static_cast<std::size_t>(s.rows * s.a_pitch()), 0),
      b(static_cast<std::size_t>(16 * s.b_pitch()), 0);
  a[0] = 0x0040, b[0] = 0x7f00;                                      // 2^-127 * 2^127
  a[static_cast<std::size_t>(s.a_pitch())] = 0x1f80, b[1] = 0x1f80;  // 2^-64 * 2^-64
  std::vector<float> got =
      plain(s, std::vector<float>(static_cast<std::size_t>(s.rows * s.c_pitch()), 1), a, b, true);
  EXPECT_EQ(got[0], 0.0f);
  EXPECT_EQ(got[static_cast<std::size_t>(s.c_pitch()) + 1], 0.0f);
  EXPECT_EQ(got[static_cast<std::size_t>(s.c_pitch())], std::ldexp(1.0f, 63));  // 2^-64 * 2^127
}

TEST(Tiles, TheProcessorHasThePlainTwinsBits) {
  if (!have_tiles()) return;  // nothing promises that they are there
  unsigned seed = 0;
  for (const Case& s : kCases)
    for (bool any_bits : {false, true})
      for (bool first : {true, false}) {
        Words a = a_of(s, ++seed, any_bits), b = b_of(s, ++seed, any_bits);
        std::vector<float> got = c_of(s), want = plain(s, got, a, b, first);
        strata_tile_product(got.data(), a.data(), b.data(), s.c_pitch(), s.a_pitch(), s.b_pitch(),
                            s.rows, s.columns, s.steps, first);
        for (std::size_t i = 0; i < want.size(); ++i)
          ASSERT_TRUE(std::memcmp(&got[i], &want[i], 4) == 0 ||
                      (std::isnan(got[i]) && std::isnan(want[i])))
              << i << ": " << got[i] << " " << want[i];
      }
  Words from = pairs(48 * 70, 99, true), got(32 * 50), want(32 * 50);
  strata_turn_squares(got.data(), from.data(), 50, 70, 48, 32);
  run_on_places(kTurnSquares, {want.data(), from.data()}, {50, 70, 48, 32},
                std::vector<std::int64_t>{32 * 50 * 4, 48 * 70 * 4});
  EXPECT_EQ(got, want);
  EXPECT_EQ(want[3 * 50 + 7], from[7 * 70 + 3]);
}

TEST(Tiles, CallsOfAnythingElseAreNotWellFormed) {
  auto call = [](bool of_load, int numbers, DType number) {
    Kernel kernel("tiles");
    Builder b(kernel);
    Ref* x = b.parameter(DType::i32, 256, Ref::Mode::inout);
    std::vector<Inst*> args{b.load(x, 0), of_load ? b.load(x, 0) : b.constant_int(DType::i32, 0)};
    for (int i = 0; i < numbers; ++i) args.push_back(b.constant_int(number, 16));
    b.call(std::string(kTurnSquares), {DType::i32, 1}, args);
    return verify(kernel).ok();
  };
  EXPECT_TRUE(call(true, 4, DType::i64));
  EXPECT_FALSE(call(false, 4, DType::i64));
  EXPECT_FALSE(call(true, 3, DType::i64));
  EXPECT_FALSE(call(true, 4, DType::i32));
}

TEST(Tiles, InterpretedOnThePlacesOfLoads) {
  Kernel kernel("tiles");
  Builder b(kernel);
  Ref* c = b.parameter(DType::f32, 16 * 32, Ref::Mode::inout);
  Ref* x = b.parameter(DType::bf16, 16 * 64 + 5, Ref::Mode::in);
  Ref* y = b.parameter(DType::i32, 16 * 16, Ref::Mode::in);
  std::vector<Inst*> args{b.load(c, 16), b.load(x, 5), b.load(y, 0)};
  for (std::int64_t n : {32, 32, 16, 16, 16, 1, 0}) args.push_back(b.constant_int(DType::i64, n));
  b.call(std::string(kTileProduct), {DType::i32, 1}, args);
  ASSERT_TRUE(verify(kernel).ok()) << verify(kernel).message();
  auto again = parse(print(kernel));
  ASSERT_TRUE(again.ok()) << again.status().message();
  for (const Kernel* k : {&kernel, again->get()}) {
    std::vector<float> sums(16 * 32, 1);
    std::vector<std::uint16_t> ones(16 * 64 + 5, 0x3f80);
    Words twos(16 * 16, 0x40004000);
    void* places[] = {sums.data(), ones.data(), twos.data()};
    interpret(*k, places);
    EXPECT_EQ(sums[15], 1);
    EXPECT_EQ(sums[16], 65);  // 1 + 32 * 2
    EXPECT_EQ(sums[15 * 32 + 31], 65);
    EXPECT_EQ(sums[32], 1);
  }
}

}  // namespace
}  // namespace strata::loop
