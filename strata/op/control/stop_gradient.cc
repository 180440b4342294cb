// strata.stop_gradient: its operand, of which derivatives know nothing.
//
// Contract: one operand; the result has its type and its value. The tangent of the result is zero.
#include "strata/op/build.h"
#include "strata/op/control.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("stop_gradient", operands, 1);
  return {operands[0]->type()};
}

Literals evaluate(const Op&, std::span<const Literal> operands, Evaluator&) {
  return {operands[0]};
}

loop::Inst* element(LowerContext& context, const Op& op, int, std::span<const loop::Index> index) {
  return context.operand(op, 0, index);
}

}  // namespace

const OpDef& stop_gradient_def() {
  static const OpDef def{
      .info = {.name = "strata.stop_gradient", .infer = infer},
      .summary = "its operand, of which derivatives know nothing",
      .traits = {.elementwise = true, .cheap = true, .moves_only = true},
      .evaluate = evaluate,
      .jvp = zero_jvp,
      .linearize = None{"no regions"},
      .transpose = None{"its result has no tangent"},
      .batch = elementwise_batch,
      .shard = pointwise_factors,
      .cost = move_cost,
      .lowering = Elementwise{element},
      .decompose = give_on,
  };
  return def;
}

}  // namespace strata::op
