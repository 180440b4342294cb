// stablehlo.all_reduce: the operands of all processes of a group, combined; each gets the result.
//
// Contract (StableHLO, all_reduce): operands, `replica_groups`, `channel_id`,
// `use_global_device_ids`, a computation (a plain one is the attribute `combiner`). (C1) ids of
// replica_groups are unique; (C2) every process is in a group and (C3) ids are within the grid:
// both known when it runs; (C4) use_global_device_ids needs a channel; (C5) the computation maps
// two scalars of a type that operands can be promoted to; (C6) results have the operands' shapes,
// (C7) its element type. Order of combination: that of the group, from the left.
#include "strata/op/build.h"
#include "strata/op/collective/collective.h"

namespace strata::op {
namespace {

using namespace collective;

constexpr char kSelf[] = "all_reduce";

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>> regions) {
  expect_tensors(kSelf, operands);
  expect_groups(kSelf, attrs, "C1", "C3");
  expect_channel_of_global_ids(kSelf, attrs, "C4");
  return infer_reduced(kSelf, operands, attrs, regions, "C5");
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  Process& process = evaluator.process();
  std::vector<Literals> all =
      meet(op, own_group(op, joint_strategy(op.attrs), process, "C2", "C3"), process, operands);
  Literals out;
  for (int i = 0; i < op.num_results(); ++i) {
    Literals values;
    for (const Literals& given : all) values.push_back(given[static_cast<std::size_t>(i)]);
    out.push_back(reduced(op, op.result(i)->type(), values, evaluator));
  }
  return out;
}

/// Everyone's operand reaches everyone's result, so everyone's cotangent comes back to everyone,
/// summed.
Values transpose(Builder& b, const Op& op, std::span<Value* const>, const std::vector<bool>& linear,
                 std::span<Value* const> cotangents) {
  Values out(op.operands.size(), nullptr);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (linear[i] && cotangents[i])
      out[i] = again(b, op, {cotangents[i]}, op.attrs, {op.operands[i]->type()}).result();
  return out;
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  BatchedOperands with = batched_operands(b, op, operands, batched, size);
  Values results =
      again(b, op, std::move(with.operands), op.attrs, std::move(with.results)).results();
  return {results, std::vector<bool>(results.size(), true)};
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  expect_alone(op);
  Values out;
  for (std::size_t i = 0; i < operands.size(); ++i)
    out.push_back(as_result(b, operands[i], op.result(static_cast<int>(i))->type()));
  return out;
}

}  // namespace

const OpDef& all_reduce_def() {
  static const OpDef d = reducing({.name = "stablehlo.all_reduce",
                                   .summary = "the operands of all processes of a group, combined; "
                                              "each gets the result (StableHLO, all_reduce)",
                                   .infer = infer,
                                   .inferred_by = "C6, C7",
                                   .by_reference = evaluate,
                                   .transpose = transpose,
                                   .batch = batch,
                                   .decompose = decompose});
  return d;
}

}  // namespace strata::op
