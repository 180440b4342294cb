// bitcast_convert counts bits: of i1 and other types below a byte, the first element lowest.
#include <gtest/gtest.h>

#include "strata/op/build.h"
#include "strata/op/evaluate.h"

namespace strata::op {
namespace {

Literal seen_as(const Literal& x, const Type& type) {
  Block block;
  Builder b(block);
  block.results = {bitcast_convert(b, block.add_argument(x.type()), type.dtype())};
  EXPECT_EQ(block.results[0]->type(), type);
  return evaluate(block, std::vector{x})[0];
}
std::vector<std::int64_t> integers(const Literal& x) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < x.count(); ++i) out.push_back(x.integer(i));
  return out;
}
using Integers = std::vector<std::int64_t>;

TEST(BitcastConvert, eight_truths_are_a_byte) {
  const Integers truths{1, 0, 1, 1, 0, 0, 0, 1};
  Literal x(Type(DType::i1, {8}));
  for (int i = 0; i < 8; ++i) x.set_integer(i, truths[static_cast<std::size_t>(i)]);
  EXPECT_EQ(seen_as(x, Type::scalar(DType::ui8)).integer(0), 141);
  EXPECT_EQ(seen_as(x, Type::scalar(DType::i8)).integer(0), 141 - 256);
  for (DType dtype : {DType::ui8, DType::i8})
    EXPECT_EQ(integers(seen_as(seen_as(x, Type::scalar(dtype)), x.type())), truths);
}

/// A byte's pieces, however they are counted.
TEST(BitcastConvert, pieces_of_a_byte) {
  Literal byte = Literal::full(Type::scalar(DType::ui8), 0b10110100);
  const Literal bits = seen_as(byte, Type(DType::i1, {8}));
  EXPECT_EQ(integers(bits), (Integers{0, 0, 1, 0, 1, 1, 0, 1}));
  EXPECT_EQ(integers(seen_as(byte, Type(DType::ui2, {4}))), (Integers{0, 1, 3, 2}));
  EXPECT_EQ(integers(seen_as(byte, Type(DType::i2, {4}))), (Integers{0, 1, -1, -2}));
  EXPECT_EQ(integers(seen_as(byte, Type(DType::i4, {2}))), (Integers{4, -5}));
  Literal pairs(Type(DType::i1, {4, 2}));
  for (int i = 0; i < 8; ++i) pairs.set_integer(i, bits.integer(i));
  EXPECT_EQ(integers(seen_as(pairs, Type(DType::ui2, {4}))), (Integers{0, 1, 3, 2}));
  Literal fours(Type(DType::i1, {2, 4}));
  for (int i = 0; i < 8; ++i) fours.set_integer(i, bits.integer(i));
  EXPECT_EQ(integers(seen_as(fours, Type(DType::i4, {2}))), (Integers{4, -5}));
  const Literal f4 = seen_as(fours, Type(DType::f4E2M1FN, {2}));
  EXPECT_EQ(f4.number(0), 2);
  EXPECT_EQ(f4.number(1), -1.5);
  EXPECT_EQ(integers(seen_as(f4, fours.type())), integers(fours));
  EXPECT_EQ(integers(seen_as(seen_as(byte, Type(DType::i4, {2})), Type(DType::ui2, {2, 2}))),
            (Integers{0, 1, 3, 2}));
}

TEST(BitcastConvert, truths_are_the_bits_of_wide_types) {
  const Literal x = Literal::scalar(1.5f);
  const Literal bits = seen_as(x, Type(DType::i1, {32}));
  std::int64_t number = 0;
  for (int i = 0; i < 32; ++i) number |= bits.integer(i) << i;
  EXPECT_EQ(number, 0x3fc00000);
  EXPECT_EQ(seen_as(bits, x.type()).number(0), 1.5);
}

}  // namespace
}  // namespace strata::op
