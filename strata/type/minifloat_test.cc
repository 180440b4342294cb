#include "strata/type/minifloat.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>

#include "strata/type/literal.h"

namespace strata {
namespace {

constexpr DType kAll[] = {DType::f4E2M1FN, DType::f6E2M3FN,      DType::f6E3M2FN, DType::f8E3M4,
                          DType::f8E4M3,   DType::f8E4M3B11FNUZ, DType::f8E4M3FN, DType::f8E4M3FNUZ,
                          DType::f8E5M2,   DType::f8E5M2FNUZ,    DType::f8E8M0FNU};

/// tools/goldens/minifloat.py: what each pattern stands for, and the f32 numbers at which the
/// rounded result changes.
struct Golden {
  std::map<std::uint8_t, std::uint32_t> values;
  std::map<std::uint32_t, std::uint8_t> starts;
};
std::map<DType, Golden> golden() {
  std::map<DType, Golden> out;
  std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "testdata/minifloat.txt");
  std::string type, kind, first, second;
  while (file >> type >> kind >> first >> second) {
    auto a = static_cast<std::uint32_t>(std::stoul(first, nullptr, 16)),
         b = static_cast<std::uint32_t>(std::stoul(second, nullptr, 16));
    Golden& g = out[parse_dtype(type).value()];
    if (kind == "value")
      g.values[static_cast<std::uint8_t>(a)] = b;
    else
      g.starts[a] = static_cast<std::uint8_t>(b);
  }
  return out;
}

TEST(MiniFloat, every_pattern_has_the_value_of_ml_dtypes) {
  auto all = golden();
  ASSERT_EQ(all.size(), std::size(kAll));
  for (const auto& [dtype, g] : all) {
    EXPECT_EQ(g.values.size(), std::size_t{1} << bit_width(dtype));
    for (auto [bits, want] : g.values) {
      float value = minifloat_value(dtype, bits);
      std::uint32_t got = std::isnan(value) ? 0x7fc00000u : std::bit_cast<std::uint32_t>(value);
      EXPECT_EQ(got, want) << name(dtype) << " " << int{bits};
    }
  }
}

TEST(MiniFloat, every_f32_rounds_as_in_ml_dtypes) {
  for (const auto& [dtype, g] : golden())
    for (auto it = g.starts.begin(); it != g.starts.end(); ++it) {
      std::uint32_t last = std::next(it) == g.starts.end() ? 0xffffffffu : std::next(it)->first - 1;
      for (std::uint32_t pattern : {it->first, it->first + (last - it->first) / 3,
                                    it->first + (last - it->first) / 2, last})
        ASSERT_EQ(int{minifloat_bits(dtype, std::bit_cast<float>(pattern))}, int{it->second})
            << name(dtype) << " of " << std::hex << pattern;
    }
}

/// f32 would land on the tie, and on the even neighbour below it.
TEST(MiniFloat, an_f64_is_rounded_once) {
  EXPECT_EQ(minifloat_value(DType::f8E4M3FN, minifloat_bits(DType::f8E4M3FN, 1.0625)), 1.0f);
  EXPECT_EQ(minifloat_value(DType::f8E4M3FN, minifloat_bits(DType::f8E4M3FN, 1.0625 + 0x1p-40)),
            1.125f);
  EXPECT_EQ(minifloat_bits(DType::f8E5M2, 1e300), 0x7c);
  EXPECT_EQ(minifloat_bits(DType::f4E2M1FN, -1e300), 0x0f);
  EXPECT_EQ(minifloat_bits(DType::f8E8M0FNU, 0x1.8p4 - 0x1p-40), 127 + 4);
}

TEST(MiniFloat, values_are_their_own_roundings) {
  for (DType dtype : kAll)
    for (unsigned bits = 0; bits < 1u << bit_width(dtype); ++bits) {
      float value = minifloat_value(dtype, static_cast<std::uint8_t>(bits));
      if (std::isnan(value)) continue;
      EXPECT_EQ(unsigned{minifloat_bits(dtype, value)}, bits) << name(dtype);
    }
}

TEST(MiniFloat, literals_hold_numbers_of_every_type) {
  for (int i = 0; i < kDTypeCount; ++i) {
    auto dtype = static_cast<DType>(i);
    Literal x(Type(dtype, {2}));
    x.set_number(1, 1);
    EXPECT_EQ(x.number(1), 1) << name(dtype);
    EXPECT_EQ(x.integer(1), 1) << name(dtype);
  }
  Literal x(Type(DType::i4, {2}));
  x.set_integer(0, 7);
  x.set_integer(1, 13);
  EXPECT_EQ(x.integer(0), 7);
  EXPECT_EQ(x.integer(1), -3);  // wrapped, and stored with its sign extended
  EXPECT_EQ(static_cast<int>(x.data()[1]), 0xfd);
  EXPECT_EQ(Literal::full(Type(DType::ui2, {1}), 3).integer(0), 3);
  EXPECT_EQ(Literal::full(Type(DType::f8E5M2, {1}), 100).number(0), 96);
}

}  // namespace
}  // namespace strata
