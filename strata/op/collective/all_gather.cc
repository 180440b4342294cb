// stablehlo.all_gather: the operands of all processes of a group, side by side.
//
// Contract (StableHLO, all_gather): operands, `all_gather_dim`, `replica_groups`, `channel_id`,
// `use_global_device_ids`.
//   (C1) all_gather_dim is a dimension of each operand; (C2) ids of replica_groups are unique; (C3)
//   every process is in a group, (C4) ids are within the grid: both known when it runs; (C5)
//   use_global_device_ids needs a channel; (C6) results have the operands' types but for dimension
//   all_gather_dim, which is as often as large as a group has processes.
#include "strata/op/collective/collective.h"

namespace strata::op {
const OpDef& reduce_scatter_def();  // reduce_scatter.cc
namespace {

using namespace collective;

constexpr char kSelf[] = "all_gather";

std::int64_t gather_dim(const Op& op) { return op.attr<std::int64_t>("all_gather_dim"); }

void verify(const Op& op) {
  expect_tensors(kSelf, op.operands);
  expect_groups(kSelf, op.attrs, "C2", "C4");
  expect_channel_of_global_ids(kSelf, op.attrs, "C5");
  std::int64_t dim = expect_attr<std::int64_t>(kSelf, op.attrs, "all_gather_dim");
  if (op.num_results() != static_cast<int>(op.operands.size()))
    throw Error(kSelf, "{} results for {} operands (C6)", op.num_results(), op.operands.size());
  std::optional<std::int64_t> size = group_size(op.attrs, joint_strategy(op.attrs));
  for (int i = 0; i < op.num_results(); ++i) {
    const Type &from = op.operand(i)->type(), &to = op.result(i)->type();
    if (dim < 0 || dim >= from.rank())
      throw Error(kSelf, "all_gather_dim {} is no dimension of {} (C1)", dim, from.to_string());
    bool fits = to.is_tensor() && from.with(to.shape()) == to && from.rank() == to.rank();
    for (int d = 0; fits && d < from.rank(); ++d) {
      const Dim &x = from.shape().dim(d), &y = to.shape().dim(d);
      if (d != dim)
        fits = may_equal(x, y);
      else if (x.is_static() && y.is_static())
        fits = size            ? y.size() == x.size() * *size
               : x.size() == 0 ? y.size() == 0
                               : y.size() % x.size() == 0;
    }
    if (!fits)
      throw Error(kSelf, "{} cannot be gathered to {} (C6)", from.to_string(), to.to_string());
  }
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  Process& process = evaluator.process();
  std::vector<Literals> all =
      meet(op, own_group(op, joint_strategy(op.attrs), process, "C3", "C4"), process, operands);
  Literals out;
  for (int i = 0; i < op.num_results(); ++i) {
    Literals parts;
    for (const Literals& given : all) parts.push_back(given[static_cast<std::size_t>(i)]);
    std::int64_t total = 0;
    for (const Literal& p : parts) total += p.shape()[static_cast<int>(gather_dim(op))];
    const Type& type = op.result(i)->type();
    if (total != type.shape()[static_cast<int>(gather_dim(op))])  // where it was not known before
      throw Error(kSelf, "{} processes give {} along dimension {} of {} (C6)", parts.size(), total,
                  gather_dim(op), type.to_string());
    out.push_back(concatenated(parts, type, gather_dim(op)));
  }
  return out;
}

/// Each process gets back the sum of what all made of its part.
Values transpose(Builder& b, const Op& op, std::span<Value* const>, const std::vector<bool>& linear,
                 std::span<Value* const> cotangents) {
  Values out(op.operands.size(), nullptr), given = or_zero_cotangents(b, op, cotangents);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!linear[i] || cotangents[i] == nullptr) continue;
    Attrs attrs = op.attrs;
    attrs.erase("all_gather_dim");
    attrs.set("scatter_dimension", gather_dim(op)).set("combiner", std::string("add"));
    out[i] = b.create(reduce_scatter_def().info, {given[i]}, std::move(attrs), {},
                      {op.operands[i]->type()})
                 .result();
  }
  return out;
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  BatchedOperands with = batched_operands(b, op, operands, batched, size);
  Attrs attrs = op.attrs;
  attrs.set("all_gather_dim", gather_dim(op) + 1);
  Values results =
      again(b, op, std::move(with.operands), std::move(attrs), std::move(with.results)).results();
  return {results, std::vector<bool>(results.size(), true)};
}

Values decompose(Builder&, const Op& op, std::span<Value* const> operands) {
  expect_alone(op);
  return Values(operands.begin(), operands.end());
}

}  // namespace

const OpDef& all_gather_def() {
  static const OpDef d = moving(
      {.name = "stablehlo.all_gather",
       .summary = "the operands of all processes of a group, side by side (StableHLO, all_gather)",
       .verify = verify,
       .by_reference = evaluate,
       .transpose = transpose,
       .batch = batch,
       .decompose = decompose});
  return d;
}

}  // namespace strata::op
