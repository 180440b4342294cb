// stablehlo.async_start and stablehlo.async_done: an operation under way, and its results.
//
// Contract (StableHLO): async_start(operands) { one operation } gives a future; async_done(future)
// gives the results.
//   async_start: (C1) the region holds one operation and returns its results; (C2) it is a
//   collective or a slice, that is, one that moves elements or combines those of processes, and
//   starts nothing itself; (C3) it works on the operands of async_start (as arguments of the
//   region, or as they are); (C4) the future is of its results' types. async_done: (C1) gives those
//   types.
// By reference the operation is done at once: when is not observable.
#include <cstring>

#include "strata/ir/constraint.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr None kSynchronous{"a future carries no numbers: say the operation without async_start"};

std::vector<Type> infer_start(std::span<Value* const> operands, const Attrs&,
                              std::span<const std::unique_ptr<Block>> regions) {
  const char* self = "async_start";
  if (regions.size() != 1) throw Error(self, "needs one region, got {}", regions.size());
  const Block& body = *regions[0];
  if (body.ops().size() != 1)
    throw Error(self, "the region must hold one operation, got {} (C1)", body.ops().size());
  const Op& op = *body.ops()[0];
  if (body.results != op.results())
    throw Error(self, "the region must return the results of {} (C1)", op.name());
  const Traits& traits = def(op).traits;
  if (!traits.moves_only && !op.attrs.has("replica_groups"))
    throw Error(self, "{} is no collective and no slice (C2)", op.name());
  bool same =
      op.operands.size() == operands.size() &&
      (body.num_arguments() == 0 || body.num_arguments() == static_cast<int>(operands.size()));
  for (std::size_t i = 0; same && i < operands.size(); ++i)
    same = body.num_arguments() == 0 ? op.operands[i] == operands[i]
                                     : op.operands[i] == body.argument(static_cast<int>(i)) &&
                                           op.operands[i]->type() == operands[i]->type();
  if (!same) throw Error(self, "{} works on other values than the operands (C3)", op.name());
  return {Type::future(body.result_types())};
}

std::vector<Type> infer_done(std::span<Value* const> operands, const Attrs&,
                             std::span<const std::unique_ptr<Block>>) {
  if (operands.size() != 1)
    throw Error("async_done", "expected 1 operand, got {}", operands.size());
  if (!operands[0]->type().is_future())
    throw Error("async_done", "the operand must be a future, got {} (I1)",
                operands[0]->type().to_string());
  return operands[0]->type().elements();
}

/// A future in memory: its values one after the other.
Literals evaluate_start(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  const Block& body = op.region(0);
  Literals results =
      evaluator.run(body, operands.first(static_cast<std::size_t>(body.num_arguments())));
  std::size_t total = 0, at = 0;
  for (const Literal& x : results) total += x.bytes();
  std::shared_ptr<std::byte[]> bytes(new std::byte[total]);
  for (const Literal& x : results) {
    std::memcpy(bytes.get() + at, x.data(), x.bytes());
    at += x.bytes();
  }
  return {Literal(op.result()->type(), std::move(bytes))};
}

Literals evaluate_done(const Op& op, std::span<const Literal> operands, Evaluator&) {
  Literals out;
  std::size_t at = 0;
  for (Value* r : op.results()) {
    out.emplace_back(r->type());
    std::memcpy(out.back().mutable_data(), operands[0].data() + at, out.back().bytes());
    at += out.back().bytes();
  }
  return out;
}

Work cost(const Op&) { return {}; }

OpDef definition(ir::OpInfo info, const char* summary, Evaluate evaluate) {
  info.quantized = quantized::per_tensor;
  return {
      .info = std::move(info),
      .summary = summary,
      .traits = {.takes_complex = true, .takes_quantized = true},
      .evaluate = evaluate,
      .jvp = kSynchronous,
      .linearize = kSynchronous,
      .transpose = kSynchronous,
      .batch = kSynchronous,
      .shard = kSynchronous,
      .cost = cost,
      .lowering = None{"compiled programs do not start operations ahead yet"},
  };
}

}  // namespace

const OpDef& async_done_def() {
  static const OpDef d =
      definition(ir::inferred_by("C1", {.name = "stablehlo.async_done", .infer = infer_done}),
                 "the results of an operation under way (StableHLO, async_done)", evaluate_done);
  return d;
}
const OpDef& async_start_def() {
  static const OpDef d =
      definition(ir::inferred_by("C4", {.name = "stablehlo.async_start", .infer = infer_start}),
                 "an operation under way (StableHLO, async_start)", evaluate_start);
  return d;
}

}  // namespace strata::op
