#include "strata/base/format/protobuf.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace strata::protobuf {
namespace {

/// The examples of protobuf's own page on its encoding.
TEST(Protobuf, WritesWhatItsPageSays) {
  EXPECT_EQ(Writer().integer(1, 150).text(), "\x08\x96\x01");
  EXPECT_EQ(Writer().bytes(2, "testing").text(), "\x12\x07testing");
  EXPECT_EQ(Writer().message(3, Writer().integer(1, 150)).text(), "\x1a\x03\x08\x96\x01");
  EXPECT_EQ(Writer().integer(1, -2).text(), "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(Protobuf, ReadsWhatItWrote) {
  for (std::int64_t value :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{127}, std::int64_t{128},
        std::int64_t{1} << 40, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min()}) {
    Writer out;
    out.integer(1, value).bytes(536870911, std::string(200, 'x'));
    Reader fields(out.text());
    auto field = fields.next();
    ASSERT_TRUE(field);
    EXPECT_EQ(field->number, 1u);
    EXPECT_EQ(static_cast<std::int64_t>(field->value), value);
    EXPECT_EQ(field->wire, Wire::varint);
    field = fields.next();
    ASSERT_TRUE(field);
    EXPECT_EQ(field->number, 536870911u);
    EXPECT_EQ(field->bytes, std::string(200, 'x'));
    EXPECT_FALSE(fields.next());
    EXPECT_FALSE(fields.broken());
  }
}

TEST(Protobuf, FixedNumbers) {
  Writer out;
  out.real(1, 0.1).real(2, 0.5f).integer(3, 5);
  EXPECT_EQ(out.text().substr(9), std::string("\x15\x00\x00\x00\x3f\x18\x05", 7));
  Reader fields(out.text());
  EXPECT_EQ(fields.next()->fixed<double>(), 0.1);
  EXPECT_EQ(fields.next()->fixed<float>(), 0.5f);
  EXPECT_EQ(fields.next()->value, 5u);
  EXPECT_FALSE(fields.next());
  EXPECT_FALSE(fields.broken());
}

TEST(Protobuf, WhatIsNoMessageIsBroken) {
  for (std::string_view bytes :
       {std::string_view("\x08"), std::string_view("\x08\x80"), std::string_view("\x12\x05four"),
        std::string_view("\x0b"), std::string_view("\x15\x01\x02"),
        std::string_view("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"),
        std::string_view("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02")}) {
    Reader fields(bytes);
    while (fields.next()) {
    }
    EXPECT_TRUE(fields.broken());
    EXPECT_FALSE(fields.next());
  }
}

TEST(Protobuf, AnyBytesComeToAnEnd) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 20000; ++trial) {
    std::string bytes(random() % 40, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % 4 == 0 ? random() : random() % 24);
    Reader fields(bytes);
    std::size_t count = 0;
    while (auto field = fields.next()) {
      EXPECT_LE(field->bytes.size(), bytes.size());
      ASSERT_LE(++count, bytes.size());
    }
  }
}

}  // namespace
}  // namespace strata::protobuf
