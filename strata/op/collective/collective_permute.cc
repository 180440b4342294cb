// stablehlo.collective_permute: processes hand their operand on, each to at most one other.
//
// Contract (StableHLO, collective_permute): one operand, `source_target_pairs`, `channel_id`.
// Processes that are nobody's target get zeros. (C1) source_target_pairs are pairs; (C2) their
// sources and (C3) their targets are unique, (C4) within the grid (known when it runs); (C5) the
// result has the operand's type.
#include <set>

#include "strata/op/build.h"
#include "strata/op/collective/collective.h"

namespace strata::op {
namespace {

using namespace collective;

constexpr char kSelf[] = "collective_permute";

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands(kSelf, operands, 1);
  expect_tensors(kSelf, operands);
  expect_attr<Literal>(kSelf, attrs, "source_target_pairs");
  expect_pairs(kSelf, attrs);
  return {operands[0]->type()};
}

/// A process meets those it gives to and gets from, pair by pair; giving comes first in each, so
/// that a ring does not wait for itself.
Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  Process& process = evaluator.process();
  bool by_partition = exchange_strategy(op.attrs) == Strategy::cross_partition;
  std::int64_t ids = by_partition ? process.partitions() : process.replicas(),
               mine = by_partition ? process.id().partition : process.id().replica;
  const Literal& pairs = op.attr<Literal>("source_target_pairs");
  std::int64_t source = -1;
  bool takes_part = false;
  std::set<std::int64_t> members;
  for (std::int64_t i = 0; i < pairs.count(); ++i) {
    std::int64_t id = pairs.integer(i);
    if (id >= ids)
      throw Error(kSelf,
                  "source_target_pairs holds {} in a grid of {} replicas and {} partitions (C4)",
                  id, process.replicas(),
                  process.partitions())
          .at(op.where.text());  // collective_permute_c4
    members.insert(id);
    takes_part = takes_part || id == mine;
    if (i % 2 == 1 && id == mine) source = pairs.integer(i - 1);
  }
  if (!takes_part) return {zero(op.result()->type())};
  ProcessGroup group;
  for (std::int64_t id : members)
    group.push_back(by_partition ? ProcessId{process.id().replica, id}
                                 : ProcessId{id, process.id().partition});
  std::vector<Literals> all = meet(op, group, process, operands);
  if (source < 0) return {zero(op.result()->type())};
  return {all[static_cast<std::size_t>(std::distance(members.begin(), members.find(source)))][0]};
}

/// Back from targets to sources.
Values transpose(Builder& b, const Op& op, std::span<Value* const>, const std::vector<bool>&,
                 std::span<Value* const> cotangents) {
  if (cotangents[0] == nullptr) return {nullptr};
  const Literal& pairs = op.attr<Literal>("source_target_pairs");
  Literal back(pairs.type());
  for (std::int64_t i = 0; i < pairs.count(); ++i) back.set_integer(i, pairs.integer(i ^ 1));
  Attrs attrs = op.attrs;
  attrs.set("source_target_pairs", std::move(back));
  return {b.create(op.info(), {cotangents[0]}, std::move(attrs)).result()};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  BatchedOperands with = batched_operands(b, op, operands, batched, size);
  return {again(b, op, std::move(with.operands), op.attrs, std::move(with.results)).results(),
          {true}};
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  const Literal& pairs = op.attr<Literal>("source_target_pairs");
  if (pairs.count() == 0) return {zeros(b, op.result()->type())};
  for (std::int64_t i = 0; i < pairs.count(); ++i)
    if (pairs.integer(i) != 0)
      throw Error(kSelf, "compiled programs run as one process").at(op.where.text()).unsupported();
  return {operands[0]};
}

}  // namespace

const OpDef& collective_permute_def() {
  static const OpDef d = moving({.name = "stablehlo.collective_permute",
                                 .summary = "processes hand their operand on, each to at most one "
                                            "other (StableHLO, collective_permute)",
                                 .infer = infer,
                                 .inferred_by = "C5",
                                 .by_reference = evaluate,
                                 .transpose = transpose,
                                 .batch = batch,
                                 .decompose = decompose});
  return d;
}

}  // namespace strata::op
