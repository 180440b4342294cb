// Elements that are asked for twice: under a condition, and where it does not hold.
#include "strata/compile/kernel/elemental_emitter.h"

#include "strata/compile/compile_testing.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Builder;
using ir::Value;

TEST(ElementalEmitter, WhatAConditionGuardsIsReadAgainOutsideOfIt) {
  for (bool first : {true, false}) {
    Block block;
    Value* x = block.add_argument(Type(DType::f32, {50, 40}));
    Builder b(block);
    Value* part = op::pad(b, op::slice(b, x, {0, 0}, {50, 23}), op::scalar(b, DType::f32, 0.5),
                          {0, 0}, {0, 17});
    block.results = {first ? op::sub(b, part, x) : op::sub(b, x, part)};
    EXPECT_EQ(make_plan(*prepare(block), {}, testing::v3()).kernels.size(), 1u);
    testing::expect_compiled_equals_reference(block);
  }
}

}  // namespace
}  // namespace strata::compile
