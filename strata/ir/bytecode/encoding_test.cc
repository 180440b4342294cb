#include "strata/ir/bytecode/encoding.h"

#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <limits>

namespace strata::ir::bytecode {
namespace {

std::string failure(const std::function<void()>& f) {
  try {
    f();
  } catch (const FormatError& e) {
    return fmt::format("{}: {}", e.offset, e.message);
  }
  return "nothing is wrong";
}

TEST(Encoding, NumbersTakeABytePerSevenBits) {
  for (int bit = 0; bit < 64; ++bit) {
    for (std::uint64_t value : {std::uint64_t{1} << bit, (std::uint64_t{1} << bit) - 1,
                                std::numeric_limits<std::uint64_t>::max() >> bit}) {
      ByteWriter w;
      w.varint(value);
      std::size_t bits = static_cast<std::size_t>(std::bit_width(value));
      EXPECT_EQ(w.text().size(), value == 0 ? 1 : bits > 56 ? 9 : (bits + 6) / 7) << value;
      ByteReader r(w.text());
      EXPECT_EQ(r.varint("a number"), value);
      EXPECT_TRUE(r.at_end());
    }
  }
}

TEST(Encoding, SignsStandInTheLowestBit) {
  for (std::int64_t value :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1}, std::int64_t{-64},
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    ByteWriter w;
    w.signed_varint(value);
    ByteReader r(w.text());
    EXPECT_EQ(r.signed_varint("a number"), value);
  }
}

TEST(Encoding, KnownBytes) {
  ByteReader r(std::string_view("\x03\x02\x02\x00\x01\x00\x00\x00\x00\x00\x00\x80", 12));
  EXPECT_EQ(r.varint("one"), 1u);
  EXPECT_EQ(r.varint("two bytes"), 128u);
  EXPECT_EQ(r.varint("nine bytes"), 0x8000000000000001u);
}

TEST(Encoding, WhatIsMissingIsSaidWithItsPlace) {
  EXPECT_EQ(failure([] { ByteReader("", 7).byte("a mask"); }), "7: expected a mask, found the end");
  EXPECT_EQ(failure([] { ByteReader(std::string_view("\x04\x01", 2)).varint("a size"); }),
            "1: expected a size of 3 bytes, found the end");
  EXPECT_EQ(failure([] { ByteReader("\x07").index(3, "type"); }), "0: type 3 of 3");
  EXPECT_EQ(failure([] { ByteReader("\x07  ").count("operands"); }), "0: 3 operands in 2 bytes");
  EXPECT_EQ(failure([] { ByteReader("abc").bytes(4, "a name"); }),
            "0: expected a name of 4 bytes, found 3");
  EXPECT_EQ(failure([] { ByteReader("abc").terminated("a name"); }),
            "0: expected a zero after a name");
  EXPECT_EQ(failure([] { ByteReader("\x13\x01").section(); }), "0: section 19 of 9");
}

TEST(Encoding, SectionsMayBeAligned) {
  // section 4 of one byte, aligned to 8: two bytes of padding after its head of three bytes and
  // three others
  std::string_view bytes("xyz\x84\x03\x11\xcb\xcb!", 9);
  ByteReader r(bytes);
  r.bytes(3, "before");
  auto [id, data] = r.section();
  EXPECT_EQ(id, Section::ir);
  EXPECT_EQ(data.offset(), 8u);
  EXPECT_EQ(data.byte("its byte"), '!');
  EXPECT_TRUE(r.at_end());
  EXPECT_EQ(failure([] { ByteReader(std::string_view("\x84\x03\x07?", 4)).section(); }),
            "3: an alignment of 3, which is no power of two");
}

}  // namespace
}  // namespace strata::ir::bytecode
