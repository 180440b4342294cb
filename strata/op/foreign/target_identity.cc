// Custom calls that say where a value is (@Sharding, @SPMDFullToShardShape,
// @SPMDShardToFullShape, @annotate_device_placement): on one device each gives on what it is given.
// And @dce_sink, which uses a value and gives nothing.
#include "strata/op/foreign/target.h"

namespace strata::op {

Values compose_identity(Builder&, const Op& op, std::span<Value* const> operands) {
  if (operands.size() != 1 || op.num_results() != 1 ||
      !(operands[0]->type() == op.result()->type()))
    throw Error("custom_call", "@{} gives on one value on one device",
                op.attr<std::string>("call_target_name"))
        .unsupported()
        .at(op.where.text());
  return {operands[0]};
}

Values compose_sink(Builder&, const Op& op, std::span<Value* const>) {
  if (op.num_results() > 0)
    throw Error("custom_call", "@dce_sink has no results, got {}", op.num_results())
        .at(op.where.text());
  return {};
}

}  // namespace strata::op
