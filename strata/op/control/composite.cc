// composite: an operation that the program defines by a function.
//
// Contract (spec: composite): attributes `name`, `composite_attributes`, `decomposition` (a
// function of the module), `version`.
//   (C1) the name has a dialect; (C2) decomposition is a function; (C3, C4) operands and results
//   have its types.
// It stays in text; before transforms, evaluation and compilation it is inlined like a call of its
// decomposition.
//
// strata.composite: the same while it is recorded, with the decomposition as its region; a graph
// that is printed as a module says stablehlo.composite (ir/pass/pass.h, outline_composites).
// Attributes `name`, `version`, `composite_attributes`.
//   (C1) the name has a dialect; (C2) the region's arguments have the operands' types.
// It has no derivative, upstream neither: a function with custom_jvp around it has. Batched it is
// what its region is when batched: its name says nothing of batches.
#include "strata/ir/text/format.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/support.h"
#include "strata/op/control.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr None kInlined{"composites are inlined before transforms and compilation"};

void expect_dialect(const Attrs& attrs) {
  const auto& name = expect_attr<std::string>("composite", attrs, "name");
  std::size_t dot = name.find('.');
  if (dot == 0 || dot == std::string::npos || dot + 1 == name.size())
    throw Error("composite", "the name {} has no dialect (C1)", name);
}

void verify(const Op& op) {
  expect_dialect(op.attrs);
  if (const auto& symbol = expect_attr<ir::Opaque>("composite", op.attrs, "decomposition");
      symbol.text.size() < 2 || symbol.text[0] != '@')
    throw Error("composite", "the decomposition {} names no function (C2)", symbol.text);
}

Literals evaluate(const Op& op, std::span<const Literal>, Evaluator&) {
  throw Error("composite", "{} stands where its decomposition {} should have been inlined",
              op.attr<std::string>("name"), op.attr<ir::Opaque>("decomposition").text);
}

constexpr None kNoDerivative{"as upstream: custom_jvp around the function says its derivative"};

std::vector<Type> infer_recorded(std::span<Value* const> operands, const Attrs& attrs,
                                 std::span<const BlockPtr> regions) {
  expect_dialect(attrs);
  if (regions.size() != 1) throw Error("composite", "needs one region, got {}", regions.size());
  expect_types("composite", "arguments of the decomposition (C2)",
               types_of(regions[0]->argument_values()), types_of(operands));
  return regions[0]->result_types();
}

Literals evaluate_recorded(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  return evaluator.run(op.region(0), operands);
}

Batched batch_recorded(Builder& b, const Op& op, std::span<Value* const> operands,
                       const std::vector<bool>& batched, std::int64_t size) {
  return batch(b, op.region(0), operands, batched, size);
}

Work cost_recorded(const Op& op) { return cost_of(op.region(0)); }

}  // namespace

const OpDef& recorded_composite_def() {
  static const OpDef d{
      .info = {.name = "strata.composite", .infer = infer_recorded, .isolated = true},
      .summary =
          "a function as one operation with a name of its own, as it is recorded (lax.composite)",
      .traits = {},
      .evaluate = evaluate_recorded,
      .jvp = kNoDerivative,
      .linearize = kNoDerivative,
      .transpose = kNoDerivative,
      .batch = batch_recorded,
      .shard = None{"sharding passes along the edges of the body, not through factors"},
      .cost = cost_recorded,
      .lowering = Structured{Structured::Kind::call},
      .decompose = call_first_region,
  };
  return d;
}

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
