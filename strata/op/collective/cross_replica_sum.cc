// stablehlo.cross-replica-sum: the operands of all replicas of a group, added up; a deprecated
// spelling of all_reduce.
//
// Contract (StableHLO, cross-replica-sum): one operand, attribute `replica_groups`; the result has
// the operand's type.
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/decomposed.h"
#include "strata/op/legalize.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("cross-replica-sum", operands, 1);
  return {operands[0]->type()};
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  Attrs attrs = op.attrs;
  attrs.set("combiner", std::string("add"));
  return b.create("stablehlo.all_reduce", {operands[0]}, std::move(attrs)).results();
}

Work cost(const Op& op) { return {elements(op), bytes_moved(op)}; }

}  // namespace

const OpDef& cross_replica_sum_def() {
  static const OpDef def{
      .info = {.name = "stablehlo.cross-replica-sum",
               .infer = infer,
               .text = &ir::formats::collective},
      .summary = "the operands of all replicas added up (StableHLO, cross-replica-sum; deprecated)",
      .traits = {.takes_complex = true},
      .evaluate = evaluate_decomposed,
      .jvp = linear_jvp,
      .linearize = None{"no regions"},
      .transpose = transpose_decomposed,
      .batch = batch_decomposed,
      .shard = pointwise_factors,
      .cost = cost,
      .lowering = None{"an all_reduce (decompose)"},
      .decompose = decompose,
  };
  return def;
}

}  // namespace strata::op
