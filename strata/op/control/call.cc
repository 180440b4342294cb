// func.call: a call of another function of the module.
//
// Attribute `callee`: the function's name. What it computes stands in the module, not in the
// operation, so result types are given when it is built and every rule but the text asks for calls
// to be inlined first.
#include "strata/ir/text/format.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr None kInlined{"calls are inlined before transforms and compilation"};

Literals evaluate(const Op& op, std::span<const Literal>, Evaluator&) {
  throw Error("call", "@{} is called where calls should have been inlined",
              op.attr<std::string>("callee"));
}

Work cost(const Op& op) { return move_cost(op); }

}  // namespace

const OpDef& call_def() {
  static const OpDef d{
      .info = {.name = "func.call", .infer = nullptr, .text = &ir::formats::call},
      .summary = "a call of another function of the module (MLIR, func.call)",
      .traits = {},
      .evaluate = evaluate,
      .jvp = kInlined,
      .linearize = kInlined,
      .transpose = kInlined,
      .batch = kInlined,
      .shard = kInlined,
      .cost = cost,
      .lowering = Structured{Structured::Kind::call},
  };
  return d;
}

}  // namespace strata::op
