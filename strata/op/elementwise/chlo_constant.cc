// chlo.constant: the array that stands in the attribute `value`, which is stablehlo.constant.
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/legalize.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("constant", operands, 0);
  return {expect_attr<Literal>("constant", attrs, "value").type()};
}

Literals evaluate(const Op& op, std::span<const Literal>, Evaluator&) {
  return {op.attr<Literal>("value")};
}

Values decompose(Builder& b, const Op& op, std::span<Value* const>) {
  return {constant(b, op.attr<Literal>("value"))};
}

std::vector<Parts> split(Builder& b, const Op& op, std::span<const Parts>) {
  return {parts_of(b, constant(b, op.attr<Literal>("value")))};
}

}  // namespace

const OpDef& chlo_constant_def() {
  static const OpDef def{
      .info = {.name = "chlo.constant", .infer = infer, .text = &ir::formats::constant},
      .summary = "an array that the program states (CHLO, constant)",
      .traits = {.moves_only = true},
      .evaluate = evaluate,
      .jvp = zero_jvp,
      .linearize = None{"no regions"},
      .transpose = None{"no operands"},
      .batch = constant_batch,
      .shard = pointwise_factors,
      .cost = move_cost,
      .lowering = None{"said by stablehlo.constant"},
      .decompose = decompose,
      .split = split,
  };
  return def;
}

}  // namespace strata::op
