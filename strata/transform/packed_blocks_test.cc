// Packed blocks in StableHLO's words: the numbers to the bit, products to rounding.
#include "strata/transform/packed_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "strata/op/build.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"
#include "strata/transform/export.h"

namespace strata::transform {
namespace {

using ir::Block;
using ir::Builder;
using ir::Values;
using Program = std::function<Values(Builder&, const Values&)>;

std::unique_ptr<Block> build(const std::vector<Type>& types, const Program& program) {
  auto block = std::make_unique<Block>();
  for (const Type& t : types) block->add_argument(t);
  Builder b(*block);
  block->results = program(b, block->argument_values());
  return block;
}

/// What a program and its exported form give, which has only StableHLO's operations.
std::pair<Literal, Literal> both(const std::vector<Literal>& in, const Program& program) {
  std::vector<Type> types;
  for (const Literal& l : in) types.push_back(l.type());
  auto block = build(types, program), exported = ir::clone(*block);
  export_stablehlo(*exported);
  ir::walk(*exported,
           [](const ir::Op& op) { EXPECT_FALSE(op.name().starts_with("strata.")) << op.name(); });
  return {op::evaluate(*block, in)[0], op::evaluate(*exported, in)[0]};
}

bool same(float x, float y) {
  return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) ||
         (std::isnan(x) && std::isnan(y));
}

class PackedBlocks : public ::testing::TestWithParam<BlockLayout> {};

TEST_P(PackedBlocks, NumbersOfAnyBytesAreTheSameBits) {
  const BlockFormat format = GetParam().kind;
  // Bytes of every value, so that scales are infinite, NaN and subnormal too.
  const Type type(DType::ui8, Shape({3, 40 * format.bytes()}));
  const auto [want, got] = both({op::random_literal(type, 5)}, [&](Builder& b, const Values& v) {
    return Values{op::block_dequantize(b, v[0], format)};
  });
  ASSERT_EQ(got.type(), want.type());
  const auto x = want.span<float>(), y = got.span<float>();
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_TRUE(same(x[i], y[i])) << i << ": " << x[i] << ", " << y[i];
}

TEST_P(PackedBlocks, ProductsAreTheSameToRounding) {
  const BlockFormat format = GetParam().kind;
  const Type packed(DType::ui8, Shape({2, 5, format.row_bytes(256)}));
  const Literal w = op::random_literal(packed, 7, 0, 60);  // below 60 every f16 is finite
  const auto check = [&](Shape shape,
                         op::Value* (*product)(Builder&, op::Value*, op::Value*, BlockFormat)) {
    const Literal x = op::random_literal(Type(DType::f32, std::move(shape)), 6);
    const auto [want, got] = both({x, w}, [&](Builder& b, const Values& v) {
      return Values{product(b, v[0], v[1], format)};
    });
    ASSERT_EQ(got.type(), want.type());
    float largest = 0, apart = 0;
    for (std::size_t i = 0; i < want.span<float>().size(); ++i) {
      largest = std::max(largest, std::abs(want.span<float>()[i]));
      apart = std::max(apart, std::abs(want.span<float>()[i] - got.span<float>()[i]));
    }
    EXPECT_GT(largest, 0);
    EXPECT_LE(apart, 1e-5 * largest);
  };
  check({2, 3, 4, 256}, op::block_dot);
  check({2, 3, 4, 256}, op::block_dot_int8);
  check({2, 3, 5}, op::block_dot_transposed);
}

INSTANTIATE_TEST_SUITE_P(All, PackedBlocks, ::testing::ValuesIn(kBlockLayouts),
                         [](const auto& p) { return std::string(p.param.name); });

TEST(PackedBlocksTest, NothingIsNothing) {
  const Literal none(Type(DType::ui8, Shape({0, 18})));
  const auto [want, got] = both({none}, [](Builder& b, const Values& v) {
    return Values{op::block_dequantize(b, v[0], BlockKind::q4_0)};
  });
  EXPECT_EQ(got.type(), want.type());
}

}  // namespace
}  // namespace strata::transform
