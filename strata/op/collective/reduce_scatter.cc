// stablehlo.reduce_scatter: the operands of all processes of a group, combined; each gets its part
// of the result.
//
// Contract (StableHLO, reduce_scatter): operand, `scatter_dimension`, `replica_groups`,
// `channel_id`, `use_global_device_ids`, a computation (a plain one is the attribute `combiner`).
// (C1) scatter_dimension is cut into equal parts, one for each process of a group; (C2) it is a
// dimension of the operand; (C3) ids of replica_groups are unique; (C4) every process is in a group
// and (C5) ids are within the grid: both known when it runs; (C6) use_global_device_ids needs a
// channel; (C7) the computation maps two scalars of a type that the operand can be promoted to;
// (C8) the result has the operand's shape but for that dimension, (C9) the computation's element
// type. Order of combination: that of the group, from the left.
#include "strata/op/build.h"
#include "strata/op/collective/collective.h"

namespace strata::op {
const OpDef& all_gather_def();  // all_gather.cc
namespace {

using namespace collective;

constexpr char kSelf[] = "reduce_scatter";

std::int64_t scatter_dim(const Op& op) { return op.attr<std::int64_t>("scatter_dimension"); }

void verify(const Op& op) {
  expect_operands(kSelf, op.operands, 1);
  expect_tensors(kSelf, op.operands);
  expect_groups(kSelf, op.attrs, "C3", "C5");
  expect_channel_of_global_ids(kSelf, op.attrs, "C6");
  Type whole = infer_reduced(kSelf, op.operands, op.attrs, op.regions, "C7")[0];
  std::int64_t dim = expect_attr<std::int64_t>(kSelf, op.attrs, "scatter_dimension");
  if (dim < 0 || dim >= whole.rank())
    throw Error(kSelf, "scatter_dimension {} is no dimension of {} (C2)", dim, whole.to_string());
  if (op.num_results() != 1) throw Error(kSelf, "has one result, got {}", op.num_results());
  const Type& to = op.result()->type();
  const Dim& cut = whole.shape().dim(static_cast<int>(dim));
  std::optional<std::int64_t> size = group_size(op.attrs, joint_strategy(op.attrs));
  if (size && cut.is_static() && cut.size() % *size != 0)
    throw Error(kSelf, "dimension {} of {} cannot be cut into {} equal parts (C1)", dim,
                whole.to_string(), *size);
  if (!to.is_tensor() || !(whole.with(to.shape()) == to))
    throw Error(kSelf, "the computation's {} cannot be scattered to {} (C9)", whole.to_string(),
                to.to_string());
  bool fits = to.rank() == whole.rank();
  for (int d = 0; fits && d < whole.rank(); ++d) {
    const Dim &x = whole.shape().dim(d), &y = to.shape().dim(d);
    if (d != dim)
      fits = may_equal(x, y);
    else if (x.is_static() && y.is_static())
      fits = size            ? y.size() * *size == x.size()
             : y.size() == 0 ? x.size() == 0
                             : x.size() % y.size() == 0;
  }
  if (!fits)
    throw Error(kSelf, "{} cannot be scattered to {} (C8)", whole.to_string(), to.to_string());
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  Process& process = evaluator.process();
  ProcessGroup group = own_group(op, joint_strategy(op.attrs), process, "C4", "C5");
  Literals values;
  for (const Literals& given : meet(op, group, process, operands)) values.push_back(given[0]);
  const Type& type = op.result()->type();
  int dim = static_cast<int>(scatter_dim(op));
  if (type.shape()[dim] * static_cast<std::int64_t>(group.size()) !=
      operands[0].shape()[dim])  // reduce_scatter_c8, where it was not known before
    throw Error(kSelf, "{} processes share dimension {} of {}, but the result is {}", group.size(),
                dim, operands[0].type().to_string(), type.to_string());
  Literal total = reduced(op, type.with(operands[0].shape()), values, evaluator);
  return {part(total, type, dim, place_in(group, process.id()))};
}

/// What a process made of its part comes from all operands' same part: everyone gets all cotangents
/// side by side.
Values transpose(Builder& b, const Op& op, std::span<Value* const>, const std::vector<bool>&,
                 std::span<Value* const> cotangents) {
  if (cotangents[0] == nullptr) return {nullptr};
  Attrs attrs = op.attrs;
  attrs.erase("scatter_dimension");
  attrs.erase("combiner");
  attrs.set("all_gather_dim", scatter_dim(op));
  return {b.create(all_gather_def().info, {cotangents[0]}, std::move(attrs), {},
                   {op.operand(0)->type()})
              .result()};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  BatchedOperands with = batched_operands(b, op, operands, batched, size);
  Attrs attrs = op.attrs;
  attrs.set("scatter_dimension", scatter_dim(op) + 1);
  return {
      again(b, op, std::move(with.operands), std::move(attrs), std::move(with.results)).results(),
      {true}};
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  expect_alone(op);
  return {as_result(b, operands[0], op.result()->type())};
}

}  // namespace

const OpDef& reduce_scatter_def() {
  static const OpDef d = reducing({.name = "stablehlo.reduce_scatter",
                                   .summary = "the operands of all processes of a group, combined; "
                                              "each gets its part (StableHLO, reduce_scatter)",
                                   .verify = verify,
                                   .by_reference = evaluate,
                                   .transpose = transpose,
                                   .batch = batch,
                                   .decompose = decompose});
  return d;
}

}  // namespace strata::op
