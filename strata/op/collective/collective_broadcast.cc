// stablehlo.collective_broadcast: one process of a group gives its operands to all of it.
//
// Contract (StableHLO, collective_broadcast): operands, `replica_groups`, `channel_id`,
// `has_dynamic_root`. Source is the first of a group, or as the last operand says for each result
// (its place in the group). Processes in no group get zeros.
//   (C1) ids of replica_groups are unique, (C2) within the grid (known when it runs); (C3) without
//   has_dynamic_root at least one operand, and results have the operands' types; (C4) with it at
//   least two, the last one an i32 for each result, the others of the results' types; (C5) as many
//   results as operands that are no roots; (C6) roots are places in a group (when it runs).
#include "strata/ir/constraint.h"
#include "strata/op/collective/collective.h"

namespace strata::op {
const OpDef& collective_reduce_def();  // collective_reduce.cc
namespace {

using namespace collective;

constexpr char kSelf[] = "collective_broadcast";

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  if (operands.empty()) throw Error(kSelf, "needs an operand, got {} (C3)", operands.size());
  expect_tensors(kSelf, operands);
  expect_groups(kSelf, attrs, "C1", "C2");
  expect_root(kSelf, operands, attrs, "C4");
  std::vector<Type> out;
  for (const Value* v : operands.first(operands.size() - (has_dynamic_root(attrs) ? 1 : 0)))
    out.push_back(v->type());
  return out;
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  Process& process = evaluator.process();
  std::optional<ProcessGroup> group = group_of(op, exchange_strategy(op.attrs), process, "C2");
  Literals out;
  if (!group) {
    for (Value* r : op.results()) out.push_back(zero(r->type()));
    return out;
  }
  std::vector<Literals> all = meet(op, *group, process, operands);
  for (std::size_t i = 0; i < static_cast<std::size_t>(op.num_results()); ++i)
    out.push_back(all[ir::under("C6", [&] { return root_of(op, i, operands, *group); })][i]);
  return out;
}

/// The root gets the sum of what all made of its operand.
Values transpose(Builder& b, const Op& op, std::span<Value* const> operands,
                 const std::vector<bool>& linear, std::span<Value* const> cotangents) {
  if (has_dynamic_root(op.attrs)) {
    Values given = or_zero_cotangents(b, op, cotangents), wanted(op.operands.size(), nullptr);
    std::vector<Type> types;
    for (Value* v : given) types.push_back(v->type());
    given.push_back(operands.back());
    Attrs attrs = op.attrs;
    attrs.set("combiner", std::string("add"));
    Values sums = b.create(collective_reduce_def().info, std::move(given), std::move(attrs), {},
                           std::move(types))
                      .results();
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (linear[i]) wanted[i] = sums[i];
    return wanted;
  }
  Attrs attrs = op.attrs;
  attrs.set("combiner", std::string("add"));
  Values out(op.operands.size(), nullptr);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (linear[i] && cotangents[i])
      out[i] = b.create(collective_reduce_def().info, {cotangents[i]}, attrs).result();
  return out;
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  BatchedOperands with = batched_operands(b, op, operands, batched, size);
  Values results =
      again(b, op, std::move(with.operands), op.attrs, std::move(with.results)).results();
  return {results, std::vector<bool>(results.size(), true)};
}

Values decompose(Builder&, const Op& op, std::span<Value* const> operands) {
  expect_alone(op);
  return Values(operands.begin(), operands.begin() + op.num_results());
}

}  // namespace

const OpDef& collective_broadcast_def() {
  static const OpDef d = moving({.name = "stablehlo.collective_broadcast",
                                 .summary = "one process of a group gives its operands to all of "
                                            "it (StableHLO, collective_broadcast)",
                                 .infer = infer,
                                 .inferred_by = "C3, C4, C5",
                                 .by_reference = evaluate,
                                 .transpose = transpose,
                                 .batch = batch,
                                 .decompose = decompose});
  return d;
}

}  // namespace strata::op
