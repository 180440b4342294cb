#include "strata/type/number.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>

namespace strata {
namespace {

std::string f32(float v) { return float_text(std::bit_cast<std::uint32_t>(v), DType::f32); }
std::string f64(double v) { return float_text(std::bit_cast<std::uint64_t>(v), DType::f64); }

// Expected texts are what mlir-opt prints.
TEST(FloatText, SixDigitsWhenTheyReadBack) {
  EXPECT_EQ(f32(0.0f), "0.000000e+00");
  EXPECT_EQ(f32(-0.0f), "-0.000000e+00");
  EXPECT_EQ(f32(1.0f), "1.000000e+00");
  EXPECT_EQ(f32(0.001f), "1.000000e-03");
  EXPECT_EQ(f32(123456.0f), "1.234560e+05");
  EXPECT_EQ(f64(1e308), "1.000000e+308");
}

TEST(FloatText, EnoughDigitsOtherwise) {
  EXPECT_EQ(f32(0.95f), "0.949999988");
  EXPECT_EQ(f32(1e-8f), "9.99999993E-9");
  EXPECT_EQ(f32(0.16666667f), "0.166666672");
  EXPECT_EQ(f64(0.33333333300000001), "0.33333333300000001");
}

TEST(FloatText, BitsWhenThereIsNoPointOrNoNumber) {
  EXPECT_EQ(f32(16777216.0f), "0x4B800000");
  EXPECT_EQ(f64(1234567.0), "0x4132D68700000000");
  EXPECT_EQ(f32(-std::numeric_limits<float>::infinity()), "0xFF800000");
  EXPECT_EQ(float_text(0x7FC00001, DType::f32), "0x7FC00001");
  EXPECT_EQ(float_text(0x7C00, DType::f16), "0x7C00");
}

TEST(FloatText, NarrowTypes) {
  EXPECT_EQ(float_text(float_bits(1.1, DType::f16), DType::f16), "1.099610e+00");
  EXPECT_EQ(float_text(float_bits(1.1, DType::bf16), DType::bf16), "1.101560e+00");
  EXPECT_EQ(float_text(float_bits(65504.0, DType::bf16), DType::bf16), "6.553600e+04");
  EXPECT_EQ(float_text(float_bits(1e-3, DType::f8E4M3FN), DType::f8E4M3FN), "1.953130e-03");
}

/// Every value of a narrow type, and many of the wide ones, read back as the same bits.
TEST(FloatText, ReadsBack) {
  auto check = [](std::uint64_t bits, DType dtype) {
    std::string text = float_text(bits, dtype);
    if (text.substr(0, 2) == "0x")
      ASSERT_EQ(std::stoull(text, nullptr, 16), bits) << name(dtype);
    else
      ASSERT_EQ(parse_float_bits(text, dtype), bits) << name(dtype) << " " << text;
  };
  for (DType d : {DType::f4E2M1FN, DType::f6E2M3FN, DType::f6E3M2FN, DType::f8E3M4, DType::f8E4M3,
                  DType::f8E4M3B11FNUZ, DType::f8E4M3FN, DType::f8E4M3FNUZ, DType::f8E5M2,
                  DType::f8E5M2FNUZ, DType::f8E8M0FNU, DType::bf16, DType::f16})
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << bit_width(d); ++bits) check(bits, d);
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    check(static_cast<std::uint32_t>(random()), DType::f32);
    check(random(), DType::f64);
  }
}

TEST(FloatBits, RoundsToNearestEvenAndSaturatesAsTheTypeSays) {
  EXPECT_EQ(float_bits(2049.0, DType::f16), float_bits(2048.0, DType::f16));  // a tie
  EXPECT_EQ(float_bits(2051.0, DType::f16), float_bits(2052.0, DType::f16));
  EXPECT_EQ(float_bits(1e9, DType::f16), 0x7C00u);
  EXPECT_EQ(float_bits(1e9, DType::f8E4M3FN), 0x7Fu);
  EXPECT_EQ(float_bits(-1e9, DType::f4E2M1FN), 0xFu);
  EXPECT_EQ(float_bits(0x1p-25, DType::f16), 0u);
  EXPECT_EQ(float_bits(0x1.8p-25, DType::f16), 1u);
  EXPECT_EQ(float_bits(3.0, DType::f8E8M0FNU), 129u);  // halfway between powers of two goes up
  EXPECT_EQ(float_bits(0.0, DType::f8E8M0FNU), 0u);
  EXPECT_EQ(float_bits(-0.0, DType::f8E8M0FNU), 0u);
  EXPECT_EQ(float_bits(-6.0, DType::f8E8M0FNU), 0xFFu);
}

TEST(ParseFloat, RefusesWhatIsNoNumber) {
  EXPECT_FALSE(parse_float_bits("-1.0", DType::f8E8M0FNU));
  for (const char* text : {"", "x", "1e", "inf", "nan", "0x1p3", "1.0.0", "--1"})
    EXPECT_FALSE(parse_float_bits(text, DType::f32)) << text;
}

}  // namespace
}  // namespace strata
