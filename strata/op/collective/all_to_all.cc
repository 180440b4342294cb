// stablehlo.all_to_all: each process of a group cuts its operands into parts and gets one part from
// everyone.
//
// Contract (StableHLO, all_to_all): operands, `split_dimension`, `concat_dimension`, `split_count`,
// `replica_groups`, `channel_id`.
//   (C1) split_dimension is a dimension of each operand, (C2) cut into split_count equal parts;
//   (C3) concat_dimension is one too; (C4) split_count is positive; (C5) ids of replica_groups are
//   unique; (C6) every process is in a group and (C7) ids are within the grid: both known when it
//   runs; (C8) groups have split_count processes; (C9) results have the operands' types, but
//   split_dimension is split_count times smaller and concat_dimension as much larger, unless they
//   are the same.
#include "strata/op/collective/collective.h"

namespace strata::op {
namespace {

using namespace collective;

constexpr char kSelf[] = "all_to_all";

std::int64_t split_dim(const Op& op) { return op.attr<std::int64_t>("split_dimension"); }
std::int64_t concat_dim(const Op& op) { return op.attr<std::int64_t>("concat_dimension"); }
std::int64_t split_count(const Op& op) { return op.attr<std::int64_t>("split_count"); }

Dim scaled(const Dim& d, std::int64_t times, std::int64_t over) {
  return d.is_static() ? Dim(d.size() * times / over) : d;
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_tensors(kSelf, operands);
  std::int64_t split = expect_attr<std::int64_t>(kSelf, attrs, "split_dimension"),
               concat = expect_attr<std::int64_t>(kSelf, attrs, "concat_dimension"),
               count = expect_attr<std::int64_t>(kSelf, attrs, "split_count");
  if (count <= 0) throw Error(kSelf, "split_count must be positive, got {} (C4)", count);
  expect_groups(kSelf, attrs, "C5", "C7");
  std::optional<std::int64_t> size = group_size(attrs, exchange_strategy(attrs));
  if (size && *size != count)
    throw Error(kSelf, "split_count is {}, but groups have {} processes (C8)", count, *size);
  std::vector<Type> out;
  for (const Value* v : operands) {
    const Type& type = v->type();
    if (split < 0 || split >= type.rank())
      throw Error(kSelf, "split_dimension {} is no dimension of {} (C1)", split, type.to_string());
    if (concat < 0 || concat >= type.rank())
      throw Error(kSelf, "concat_dimension {} is no dimension of {} (C3)", concat,
                  type.to_string());
    std::vector<Dim> dims = type.shape().dims();
    auto s = static_cast<std::size_t>(split), c = static_cast<std::size_t>(concat);
    if (dims[s].is_static() && dims[s].size() % count != 0)
      throw Error(kSelf, "dimension {} of {} cannot be cut into {} equal parts (C2)", split,
                  type.to_string(), count);
    if (split != concat) {
      dims[s] = scaled(dims[s], 1, count);
      dims[c] = scaled(dims[c], count, 1);
    }
    out.push_back(type.with(Shape(std::move(dims))));
  }
  return out;
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  Process& process = evaluator.process();
  ProcessGroup group = own_group(op, exchange_strategy(op.attrs), process, "C6", "C7");
  if (static_cast<std::int64_t>(group.size()) != split_count(op))  // where groups are all processes
    throw Error(kSelf, "split_count is {}, but the group has {} processes (C8)", split_count(op),
                group.size());
  std::vector<Literals> all = meet(op, group, process, operands);
  std::int64_t mine = place_in(group, process.id());
  Literals out;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    std::vector<Dim> dims = operands[i].shape().dims();
    Dim& cut = dims[static_cast<std::size_t>(split_dim(op))];
    cut = scaled(cut, 1, split_count(op));
    Type piece = operands[i].type().with(Shape(dims));
    Literals parts;
    for (const Literals& given : all) parts.push_back(part(given[i], piece, split_dim(op), mine));
    Dim& joined = dims[static_cast<std::size_t>(concat_dim(op))];
    joined = scaled(joined, split_count(op), 1);
    out.push_back(concatenated(parts, operands[i].type().with(Shape(dims)), concat_dim(op)));
  }
  return out;
}

/// The way back: cut where it was joined, joined where it was cut.
Values transpose(Builder& b, const Op& op, std::span<Value* const>, const std::vector<bool>& linear,
                 std::span<Value* const> cotangents) {
  Attrs attrs = op.attrs;
  attrs.set("split_dimension", concat_dim(op)).set("concat_dimension", split_dim(op));
  Values out(op.operands.size(), nullptr);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (linear[i] && cotangents[i])
      out[i] = b.create(op.info(), {cotangents[i]}, attrs, {}, {op.operands[i]->type()}).result();
  return out;
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  BatchedOperands with = batched_operands(b, op, operands, batched, size);
  Attrs attrs = op.attrs;
  attrs.set("split_dimension", split_dim(op) + 1).set("concat_dimension", concat_dim(op) + 1);
  Values results =
      again(b, op, std::move(with.operands), std::move(attrs), std::move(with.results)).results();
  return {results, std::vector<bool>(results.size(), true)};
}

Values decompose(Builder&, const Op& op, std::span<Value* const> operands) {
  expect_alone(op);
  return Values(operands.begin(), operands.end());
}

}  // namespace

const OpDef& all_to_all_def() {
  static const OpDef d = moving(
      {.name = "stablehlo.all_to_all",
       .summary =
           "each process of a group gets one part of everyone's operands (StableHLO, all_to_all)",
       .infer = infer,
       .inferred_by = "C9",
       .by_reference = evaluate,
       .transpose = transpose,
       .batch = batch,
       .decompose = decompose});
  return d;
}

}  // namespace strata::op
