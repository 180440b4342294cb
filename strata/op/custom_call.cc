// stablehlo.custom_call: a computation that the program names and somebody else defines.
//
// Contract (StableHLO, custom_call): attribute `call_target_name`; operands, result types and the other attributes are
// the target's business, so that none is checked here. Targets that Strata knows: `check.*` (op/check.h), by which test
// programs check themselves. Any other is carried through text and refused when it is to be run.
#include "strata/ir/text/format.h"
#include "strata/op/check.h"
#include "strata/op/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr None kUnknown{"what the target computes is not known here"};

void verify(const Op& op) { expect_attr<std::string>("custom_call", op.attrs, "call_target_name"); }

/// `check.eq` has a result: that it held.
Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const std::string& target = op.attr<std::string>("call_target_name");
  auto demand = demand_of(op);
  if (!demand) throw Error("custom_call", "target @{} is not supported", target).unsupported().at(op.where.text());
  if (auto difference = compare(*demand, operands[0], operands[1])) throw Error(target, "{}", to_string(*difference)).at(op.where.text());
  Literals out;
  for (Value* result : op.results()) out.push_back(Literal::full(result->type(), 1));
  return out;
}

}  // namespace

const OpDef& custom_call_def() {
  static const OpDef d{
      .info = {.name = "stablehlo.custom_call", .infer = nullptr, .has_effect = true, .text = &ir::formats::custom_call, .verify = verify, .quantized = quantized::as_stated},
      .summary = "a computation defined elsewhere under a name (StableHLO, custom_call)",
      .traits = {.takes_complex = true},
      .evaluate = evaluate,
      .jvp = kUnknown,
      .linearize = None{"no regions"},
      .transpose = kUnknown,
      .batch = kUnknown,
      .shard = kUnknown,
      .cost = move_cost,
      .lowering = None{"no target has machine code"},
  };
  return d;
}

}  // namespace strata::op
