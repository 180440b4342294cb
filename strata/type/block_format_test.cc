// Block formats beside gguf-py and ggml (tools/goldens/blocks.py), and worked blocks of every one.
#include "strata/type/block_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <limits>
#include <map>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/type/npy.h"

namespace strata {
namespace {

std::map<std::string, Literal> goldens() {
  const auto path = std::filesystem::path(__FILE__).parent_path() / "testdata/blocks.npz";
  NamedLiterals all = decode_npz(read_file(path.string()).value(), "blocks.npz").value();
  return {all.begin(), all.end()};
}

const std::uint8_t* bytes_of(const Literal& x) {
  return reinterpret_cast<const std::uint8_t*>(x.data());
}

TEST(BlockFormat, NumbersAreThoseOfGgufPy) {
  const auto held = goldens();
  for (const BlockLayout& layout : kBlockLayouts) {
    const BlockFormat format = layout.kind;
    const Literal &blocks = held.at(layout.name + std::string(".blocks")),
                  &numbers = held.at(layout.name + std::string(".numbers"));
    ASSERT_EQ(blocks.shape()[1], format.bytes());
    Literal got(numbers.type());
    format.dequantize(bytes_of(blocks), blocks.shape()[0], got.mutable_span<float>().data());
    for (std::int64_t i = 0; i < got.count(); ++i) {
      const float a = got.span<float>()[static_cast<std::size_t>(i)],
                  b = numbers.span<float>()[static_cast<std::size_t>(i)];
      ASSERT_EQ(std::bit_cast<std::uint32_t>(a), std::bit_cast<std::uint32_t>(b))
          << layout.name << " element " << i << ": " << a << " and " << b;
    }
  }
}

TEST(BlockFormat, BlocksAreThoseOfTheReferenceEncoders) {
  const auto held = goldens();
  const Literal& numbers = held.at("numbers");
  int checked = 0;
  for (const BlockLayout& layout : kBlockLayouts) {
    if (!layout.can_quantize) continue;
    const BlockFormat format = layout.kind;
    const Literal& want = held.at(layout.name + std::string(".encoded"));
    Literal got(want.type());
    format.quantize(numbers.span<float>().data(), numbers.count() / format.elements(),
                    reinterpret_cast<std::uint8_t*>(got.mutable_data()));
    for (std::int64_t i = 0; i < got.count(); ++i)
      ASSERT_EQ(bytes_of(got)[i], bytes_of(want)[i])
          << layout.name << " row " << i / want.shape()[1] << " byte " << i % want.shape()[1];
    ++checked;
  }
  EXPECT_EQ(checked, 4);
}

/// Byte i is 37 i + 11; the f16 fields are 0.125 and 0.0625 (0x3000, 0x2c00); MXFP4's exponent 126.
std::vector<std::uint8_t> worked(BlockFormat format) {
  std::vector<std::uint8_t> b(static_cast<std::size_t>(format.bytes()));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::uint8_t>(37 * i + 11);
  auto put = [&](std::size_t at, int high) {
    b[at] = 0, b[at + 1] = static_cast<std::uint8_t>(high);
  };
  switch (format.kind()) {
    case BlockKind::mxfp4: b[0] = 126; break;
    case BlockKind::q2_k: put(80, 0x30), put(82, 0x2c); break;
    case BlockKind::q3_k: put(108, 0x30); break;
    case BlockKind::q6_k: put(208, 0x30); break;
    case BlockKind::q4_1:
    case BlockKind::q5_1:
    case BlockKind::q4_k:
    case BlockKind::q5_k: put(0, 0x30), put(2, 0x2c); break;
    default: put(0, 0x30);
  }
  return b;
}

TEST(BlockFormat, WorkedBlocks) {
  struct Row {
    BlockKind kind;
    float at[4], sum;  // elements 0, 17, 100, 255, or 0, 1, 17, 31
  };
  const Row rows[] = {
      {BlockKind::q4_0, {-0.375, 0.25, -0.125, 0}, -2.625},
      {BlockKind::q4_1, {1.9375, 0.5625, 1.5625, 1.5625}, 32.625},
      {BlockKind::q5_0, {1.125, -0.25, 0, 0.125}, 1.875},
      {BlockKind::q5_1, {2.4375, 3.0625, 0.6875, 0.6875}, 65.125},
      {BlockKind::q2_k, {4.125, -0.1875, 2.5, 0.5625}, 257.375},
      {BlockKind::q3_k, {10.125, 16, 0, 5.25}, 119.75},
      {BlockKind::q4_k, {39.4375, -3.1875, 11.875, 6.0625}, 6805},
      {BlockKind::q5_k, {101.4375, -3.1875, 29.375, 13.5625}, 14527},
      {BlockKind::q6_k, {-178.875, 64, 315.375, -7.5}, 576.5},
      {BlockKind::iq4_nl, {-4.375, 3.125, -1.25, 0.125}, -32.125},
      {BlockKind::iq4_xs, {8.125, 4.375, 5, -2}, -1375.625},
      {BlockKind::mxfp4, {0, 1.5, 1.5, 1.5}, 6.25},
  };
  for (const Row& row : rows) {
    const BlockFormat format = row.kind;
    std::vector<float> x(static_cast<std::size_t>(format.elements()));
    format.dequantize(worked(format).data(), 1, x.data());
    double sum = 0;
    for (float v : x) sum += static_cast<double>(v);
    const int short_at[] = {0, 1, 17, 31}, long_at[] = {0, 17, 100, 255};
    for (int i = 0; i < 4; ++i) {
      const int at = format.elements() == 32 ? short_at[i] : long_at[i];
      EXPECT_EQ(x[static_cast<std::size_t>(at)], row.at[i]) << format.name() << " element " << at;
    }
    EXPECT_EQ(static_cast<float>(sum), row.sum) << format.name();
  }
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(BlockFormat, SaysWhatItDoesNotHave) {
  using testing::HasSubstr;
  EXPECT_EQ(BlockFormat::named("Q6_K").kind(), BlockKind::q6_k);
  EXPECT_THAT(error_of([] { BlockFormat::named("Q7_K"); }),
              HasSubstr("no format 'Q7_K'; formats: Q4_0"));
  EXPECT_THAT(error_of([] { BlockFormat::named("IQ2_XXS"); }),
              HasSubstr("IQ2_XXS packs elements as places of a codebook"));
  const BlockFormat q4 = BlockKind::q4_k;
  EXPECT_THAT(error_of([&] { (void)q4.row_bytes(576); }),
              HasSubstr("Q4_K packs 256 elements in a block, which do not divide a row of 576"));
  EXPECT_EQ(q4.row_bytes(512), 288);
  EXPECT_EQ(q4.row_elements(288), 512);
  EXPECT_THAT(error_of([&] { (void)q4.row_elements(287); }), HasSubstr("has 144 bytes"));
  std::vector<float> x(256, 1.0f);
  std::vector<std::uint8_t> out(256);
  x[7] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(error_of([&] { q4.quantize(x.data(), 1, out.data()); }),
              HasSubstr("element 7 to be packed is inf"));
  EXPECT_THAT(error_of([&] { BlockFormat(BlockKind::q6_k).quantize(x.data(), 1, out.data()); }),
              HasSubstr("no encoder for Q6_K"));
}

}  // namespace
}  // namespace strata
