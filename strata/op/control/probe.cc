// interpreter.probe: its operand, whose value is recorded each time.
//
// Contract (the interpreter dialect of StableHLO): one operand; attribute `probe_id`. (C1) The
// result has the operand's type. Only reference evaluation records; compiled programs have no
// probes.
#include "strata/op/control/probe.h"

#include "strata/ir/constraint.h"
#include "strata/ir/text/format_help.h"
#include "strata/ir/text/type_text.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {

std::map<std::string, std::vector<Literal>>& probes() {
  static thread_local std::map<std::string, std::vector<Literal>> records;
  return records;
}

namespace {

constexpr None kRecords{"a probe records the values of one reference evaluation"};

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("probe", operands, 1);
  expect_attr<std::string>("probe", attrs, "probe_id");
  return {operands[0]->type()};
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  probes()[op.attr<std::string>("probe_id")].push_back(operands[0]);
  return {operands[0]};
}

void print(ir::TextPrinter& p, const Op& op) {
  p << " ";
  p.operands(op);
  p << ", probe_id = " << ir::quoted(op.attr<std::string>("probe_id"));
  p.other_attributes(op, {"probe_id"});
  p << " : " << op.result()->type().to_string();
}
void parse(ir::TextParser& p, ir::Draft& draft) {
  draft.operands = {p.operand()};
  p.expect(",");
  p.expect("probe_id");
  p.expect("=");
  draft.attrs.set("probe_id", p.string());
  p.attributes(draft);
  p.expect(":");
  draft.results = {ir::parse_type(p)};
}
void from_generic(ir::TextParser& p, ir::Draft& draft) {
  p.need<std::string>(draft, "probe_id", "string");
}
constexpr ir::TextFormat kText{.print = print, .parse = parse, .from_generic = from_generic};

}  // namespace

const OpDef& probe_def() {
  static const OpDef d{
      .info = ir::inferred_by("C1", {.name = "interpreter.probe",
                                     .infer = infer,
                                     .has_effect = true,
                                     .text = &kText,
                                     .quantized = quantized::as_stated}),
      .summary = "its operand, whose value is recorded (interpreter.probe)",
      .traits = {.takes_complex = true},
      .evaluate = evaluate,
      .jvp = kRecords,
      .linearize = None{"no regions"},
      .transpose = kRecords,
      .batch = kRecords,
      .shard = pointwise_factors,
      .cost = move_cost,
      .lowering = None{"only reference evaluation records"},
  };
  return d;
}

}  // namespace strata::op
