// @stablehlo.dynamic_top_k: chlo.top_k whose k an operand holds. Operands [x, k].
#include "strata/op/foreign/target.h"
#include "strata/op/rules.h"
#include "strata/op/shape/refine.h"

namespace strata::op {

std::vector<int> dynamic_top_k_needs(const Op&) { return {1}; }

Values compose_dynamic_top_k(Builder& b, const Op& op, std::span<Value* const> operands) {
  if (operands.size() != 2 || op.num_results() != 2)
    throw Error("custom_call", "@stablehlo.dynamic_top_k takes an array and k for two results")
        .at(op.where.text());
  Ints k = expect_known("dynamic_top_k", "k", operands[1]);
  if (k.size() != 1)
    throw Error("custom_call", "@stablehlo.dynamic_top_k: k must be one integer, got {}",
                operands[1]->type().to_string())
        .at(op.where.text());
  return b.create("chlo.top_k", {operands[0]}, {{"k", k[0]}}).results();
}

}  // namespace strata::op
