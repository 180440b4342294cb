// composite: an operation that the program defines by a function.
//
// Contract (spec: composite): attributes `name`, `composite_attributes`, `decomposition` (a function of the module), `version`.
//   (C1) the name has a dialect; (C2) decomposition is a function; (C3, C4) operands and results have its types.
// It stays in text; before transforms, evaluation and compilation it is inlined like a call of its decomposition.
#include "strata/ir/text/format.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr None kInlined{"composites are inlined before transforms and compilation"};

void verify(const Op& op) {
  const auto& name = expect_attr<std::string>("composite", op.attrs, "name");
  std::size_t dot = name.find('.');
  if (dot == 0 || dot == std::string::npos || dot + 1 == name.size()) throw Error("composite", "(C1) the name {} has no dialect", name);
  if (const auto& symbol = expect_attr<ir::Opaque>("composite", op.attrs, "decomposition"); symbol.text.size() < 2 || symbol.text[0] != '@')
    throw Error("composite", "(C2) the decomposition {} names no function", symbol.text);
}

Literals evaluate(const Op& op, std::span<const Literal>, Evaluator&) {
  throw Error("composite", "{} stands where its decomposition {} should have been inlined", op.attr<std::string>("name"),
              op.attr<ir::Opaque>("decomposition").text);
}

}  // namespace

const OpDef& composite_def() {
  static const OpDef d{
      .info = {.name = "stablehlo.composite", .text = &ir::formats::composite, .verify = verify},
      .summary = "an operation that the program defines by a function (spec: composite)",
      .traits = {},
      .evaluate = evaluate,
      .jvp = kInlined,
      .linearize = kInlined,
      .transpose = kInlined,
      .batch = kInlined,
      .shard = kInlined,
      .cost = move_cost,
      .lowering = Structured{Structured::Kind::call},
  };
  return d;
}

}  // namespace strata::op
