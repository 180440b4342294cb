// stablehlo.collective_reduce: the operands of all processes of a group, combined; one of them gets
// the result.
//
// Contract (StableHLO, collective_reduce): operands, `replica_groups`, `channel_id`,
// `has_dynamic_root`, a computation (a plain one is the attribute `combiner`). The root is the
// first of a group, or as the last operand says for each result (its place in the group); all
// others get zeros. (C1) ids of replica_groups are unique, (C2) within the grid (known when it
// runs); (C3) results have the shapes of the operands that are no roots, and the roots are an i32
// for each; (C4) the computation maps two scalars of a type that operands can be promoted to. Order
// of combination: that of the group, from the left.
#include "strata/op/build.h"
#include "strata/op/collective/collective.h"

namespace strata::op {
const OpDef& collective_broadcast_def();  // collective_broadcast.cc
namespace {

using namespace collective;

constexpr char kSelf[] = "collective_reduce";

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>> regions) {
  expect_tensors(kSelf, operands);
  expect_groups(kSelf, attrs, "C1", "C2");
  expect_root(kSelf, operands, attrs, "C3");
  return infer_reduced(kSelf, operands.first(operands.size() - (has_dynamic_root(attrs) ? 1 : 0)),
                       attrs, regions, "C4");
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  Process& process = evaluator.process();
  std::optional<ProcessGroup> group = group_of(op, exchange_strategy(op.attrs), process, "C2");
  std::vector<Literals> all;
  if (group) all = meet(op, *group, process, operands);
  Literals out;
  for (std::size_t i = 0; i < static_cast<std::size_t>(op.num_results()); ++i) {
    const Type& type = op.result(static_cast<int>(i))->type();
    if (!group || (*group)[root_of(op, i, operands, *group)] != process.id()) {
      out.push_back(zero(type));
      continue;
    }
    Literals values;
    for (const Literals& given : all) values.push_back(given[i]);
    out.push_back(reduced(op, type, values, evaluator));
  }
  return out;
}

/// What the root made of the sum comes back to everyone.
Values transpose(Builder& b, const Op& op, std::span<Value* const> operands,
                 const std::vector<bool>& linear, std::span<Value* const> cotangents) {
  Values given = or_zero_cotangents(b, op, cotangents), out(op.operands.size(), nullptr);
  if (has_dynamic_root(op.attrs)) given.push_back(operands.back());
  Attrs attrs = op.attrs;
  attrs.erase("combiner");
  Values all =
      b.create(collective_broadcast_def().info, std::move(given), std::move(attrs)).results();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (linear[i]) out[i] = all[i];
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
  for (int i = 0; i < op.num_results(); ++i)
    out.push_back(as_result(b, operands[static_cast<std::size_t>(i)], op.result(i)->type()));
  return out;
}

}  // namespace

const OpDef& collective_reduce_def() {
  static const OpDef d = reducing({.name = "stablehlo.collective_reduce",
                                   .summary = "the operands of all processes of a group, combined; "
                                              "one gets the result (StableHLO, collective_reduce)",
                                   .infer = infer,
                                   .inferred_by = "C3",
                                   .by_reference = evaluate,
                                   .transpose = transpose,
                                   .batch = batch,
                                   .decompose = decompose});
  return d;
}

}  // namespace strata::op
