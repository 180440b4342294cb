// stablehlo.uniform_quantize and stablehlo.uniform_dequantize: between numbers and the integers
// that stand for them.
//
// Contract (StableHLO): uniform_quantize takes floats or a quantised tensor and gives the quantised
// tensor that is stated; uniform_dequantize takes a quantised tensor and gives floats. (C1) One
// shape; (C2) the floats are of the expressed type, which two quantised tensors share. What they
// compute: op/quantized/quantized.h.
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/legalize.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr None kRounds{"a quantised tensor has no tangent"};

void expect_shapes(const char* self, const Op& op) {
  expect_operands(self, op.operands, 1);
  for (const Value* v : {op.operand(0), op.result()}) {
    if (!v->type().is_tensor())
      throw Error(self, "takes and gives tensors, got {}", v->type().to_string());
    if (v->type().is_quantized()) quantized::expect_type(self, v->type());
  }
  if (!may_equal(op.operand(0)->shape(), op.result()->shape()))
    throw Error(self, "{} and {} have different shapes (C1)", op.operand(0)->type().to_string(),
                op.result()->type().to_string());
}

void verify_quantize(const Op& op) {
  const char* self = "uniform_quantize";
  expect_shapes(self, op);
  const Type &from = op.operand(0)->type(), &to = op.result()->type();
  if (!to.is_quantized())
    throw Error(self, "the result must be quantised, got {} (C2)", to.to_string());
  if (from.expressed().dtype() != to.quantization()->expressed)
    throw Error(self, "{} holds no numbers of type {} (C2)", from.to_string(),
                name(to.quantization()->expressed));
}

void verify_dequantize(const Op& op) {
  const char* self = "uniform_dequantize";
  expect_shapes(self, op);
  const Type &from = op.operand(0)->type(), &to = op.result()->type();
  if (!from.is_quantized())
    throw Error(self, "the operand must be quantised, got {} (I1)", from.to_string());
  if (!(to == from.expressed().with(to.shape())))
    throw Error(self, "the numbers of {} are no {} (C2)", from.to_string(), to.to_string());
}

/// Both evaluate as they are compiled: said by arithmetic on the stored integers.
Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  return evaluator.run(*legalize(op), operands);
}

std::vector<Parts> split(Builder& b, const Op& op, std::span<const Parts> operands) {
  const Type &from = op.operand(0)->type(), &to = op.result()->type();
  Value* number = operands[0][0];
  if (from.is_quantized()) number = dequantize(b, number, from);
  if (to.is_quantized()) number = quantize(b, number, to, part_types(to)[0].dtype());
  return {{number}};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands, const std::vector<bool>&,
              std::int64_t size) {
  return {
      b.create(op.info(), {operands[0]}, op.attrs, {}, {with_leading(op.result()->type(), size)})
          .results(),
      {true}};
}

Work cost(const Op& op) { return {4 * elements(op), bytes_moved(op)}; }

OpDef definition(const char* name, const char* summary, void (*verify)(const Op&)) {
  return {
      .info = {.name = name,
               .infer = nullptr,
               .text = &ir::formats::elementwise,
               .verify = verify,
               .quantized = verify},
      .summary = summary,
      .traits = {.takes_quantized = true},
      .evaluate = evaluate,
      .jvp = kRounds,
      .linearize = kRounds,
      .transpose = kRounds,
      .batch = batch,
      .shard = pointwise_factors,
      .cost = cost,
      .lowering = None{"legalised to arithmetic on the stored integers"},
      .split = split,
  };
}

}  // namespace

const OpDef& uniform_dequantize_def() {
  static const OpDef d =
      definition("stablehlo.uniform_dequantize",
                 "the numbers that stored integers stand for (StableHLO, uniform_dequantize)",
                 verify_dequantize);
  return d;
}
const OpDef& uniform_quantize_def() {
  static const OpDef d = definition(
      "stablehlo.uniform_quantize",
      "the stored integers that stand for numbers (StableHLO, uniform_quantize)", verify_quantize);
  return d;
}

}  // namespace strata::op
