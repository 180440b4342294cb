// chlo.conj: the complex conjugate.
//
// Contract (CHLO, conj): a complex operand; the result has its type.
#include "strata/ir/text/format.h"
#include "strata/op/decomposed.h"
#include "strata/op/legalize.h"
#include "strata/op/linalg/matrix.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("conj", operands, 1);
  if (!is_complex(operands[0]->dtype()))
    throw Error("conj", "takes complex numbers, got {}", operands[0]->type().to_string());
  return {operands[0]->type()};
}

Values decompose(Builder& b, const Op&, std::span<Value* const> operands) {
  return {conj(b, operands[0])};
}

std::vector<Parts> split(Builder& b, const Op&, std::span<const Parts> operands) {
  return {{operands[0][0], neg(b, operands[0][1])}};
}

Values transpose_rule(Builder& b, const Op&, std::span<Value* const>, const std::vector<bool>&,
                      std::span<Value* const> ct) {
  return {ct[0] ? conj(b, ct[0]) : nullptr};
}

Work cost(const Op& op) { return {elements(op), bytes_moved(op)}; }

}  // namespace

const OpDef& conj_def() {
  static const OpDef def{
      .info = {.name = "chlo.conj", .infer = infer, .text = &ir::formats::chlo_elementwise},
      .summary = "the complex conjugate (CHLO, conj)",
      .traits = {.elementwise = true},
      .evaluate = evaluate_decomposed,
      .jvp = linear_jvp,
      .linearize = None{"no regions"},
      .transpose = transpose_rule,
      .batch = elementwise_batch,
      .shard = pointwise_factors,
      .cost = cost,
      .lowering = None{"said by the parts"},
      .decompose = decompose,
      .split = split,
  };
  return def;
}

}  // namespace strata::op
