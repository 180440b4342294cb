// What operations tell the compiler, where no lowering of theirs alone would show it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/op/build.h"
#include "strata/op/reduce/combiner.h"

namespace strata::op {
namespace {

using ::testing::ElementsAre;

TEST(LoweringFacts, BooleansAddAsOrAndMultiplyAsAnd) {
  EXPECT_EQ(opcode(Combiner::add, DType::i1), loop::Opcode::or_);
  EXPECT_EQ(opcode(Combiner::mul, DType::i1), loop::Opcode::and_);
  EXPECT_EQ(opcode(Combiner::min, DType::i1), loop::Opcode::and_);
  EXPECT_EQ(opcode(Combiner::max, DType::i1), loop::Opcode::or_);
  EXPECT_EQ(opcode(Combiner::mul, DType::f32), loop::Opcode::mul);
}

TEST(LoweringFacts, ContractedDimensionsStayPaired) {
  Block block;
  Builder b(block);
  Value *x = block.add_argument(Type(DType::f32, {2, 3, 4})),
        *y = block.add_argument(Type(DType::f32, {4, 5, 3}));
  const Op& op = *dot_general(b, x, y, {{}, {}, {1, 2}, {2, 0}})->op();
  Contraction c = std::get<Contraction (*)(const Op&)>(def(op).lowering)(op);
  EXPECT_THAT(c.lhs_contract, ElementsAre(1, 2));
  EXPECT_THAT(c.rhs_contract, ElementsAre(2, 0));
}

}  // namespace
}  // namespace strata::op
