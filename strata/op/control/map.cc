// stablehlo.map: a computation on scalars, for each element.
//
// Contract (StableHLO, map): operands `inputs`; attribute `dimensions`.
//   (C1) the inputs and the result have one shape; (C2) at least one input; (C3) dimensions = 0 ..
//   R-1; (C4) the computation maps one scalar of each input to one scalar, whose element type is
//   the result's.
// It stands for the computation batched over all elements.
#include <fmt/format.h>

#include "strata/ir/constraint.h"
#include "strata/op/build.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/support.h"
#include "strata/op/decomposed.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>> regions) {
  if (operands.empty())
    throw Error("map", "expected at least one input, got {} (C2)", operands.size());
  if (regions.size() != 1) throw Error("map", "expected one region, got {}", regions.size());
  const Block& region = *regions[0];
  Shape shape;
  for (Value* v : operands) {
    if (!v->type().is_tensor())
      throw Error("map", "inputs must be arrays, got {} (I1)", v->type().to_string());
    if (!may_equal(v->shape(), operands[0]->shape()))
      throw Error("map", "inputs must have one shape, got {} and {} (C1)",
                  operands[0]->type().to_string(), v->type().to_string());
    shape = v == operands[0] ? v->shape() : merged(shape, v->shape());
  }
  Ints all;
  for (std::int64_t d = 0; d < operands[0]->rank(); ++d) all.push_back(d);
  if (const Ints& dims = expect_attr<Ints>("map", attrs, "dimensions"); dims != all)
    throw Error("map", "dimensions must be [{}] for {}, got [{}] (C3)", fmt::join(all, ", "),
                operands[0]->type().to_string(), fmt::join(dims, ", "));
  if (region.arguments().size() != operands.size())
    throw Error("map", "the computation takes {} arguments for {} inputs (C4)",
                region.num_arguments(), operands.size());
  for (const auto& a : region.arguments())
    if (Type expected = Type::scalar(operands[static_cast<std::size_t>(a->index())]->dtype());
        a->type() != expected)
      throw Error("map", "argument {} of the computation is {}, expected {} (C4)", a->index(),
                  a->type().to_string(), expected.to_string());
  if (region.results.size() != 1 || !region.results[0]->type().is_tensor() ||
      region.results[0]->rank() != 0)
    throw Error("map", "the computation must return one scalar, got {} (C4)",
                region.results.size() == 1 ? region.results[0]->type().to_string()
                                           : fmt::format("{} values", region.results.size()));
  return {region.results[0]->type().with(shape)};
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  Literal out(op.result()->type().with(operands[0].shape()));
  for (std::int64_t i = 0; i < out.count(); ++i) {
    Literals arguments;
    for (const Literal& x : operands) {
      arguments.emplace_back(Type::scalar(x.dtype()));
      copy_element(x, i, arguments.back(), 0);
    }
    copy_element(evaluator.run(op.region(0), arguments)[0], 0, out, i);
  }
  return {std::move(out)};
}

/// In closed form what the computation captures stands behind the inputs; it goes to the
/// computation as it is.
Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  const Shape& shape = operands[0]->shape();
  Values flat;
  std::vector<bool> batched;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    batched.push_back(operands[i]->type() != op.region(0).argument(static_cast<int>(i))->type());
    flat.push_back(batched.back() ? reshape(b, operands[i], Shape{shape.count()}) : operands[i]);
  }
  if (!any(batched)) return ir::inline_block(b, op.region(0), flat);
  Batched out = batch(b, op.region(0), flat, batched, shape.count());
  return {reshape(b, batched_operand(b, out.results[0], out.batched[0], shape.count()), shape)};
}

Work cost(const Op& op) {
  return {elements(op) * static_cast<double>(op.region(0).ops().size()), bytes_moved(op)};
}

}  // namespace

const OpDef& map_def() {
  static const OpDef d{
      .info = ir::inferred_by(
          "C1, C4", {.name = "stablehlo.map", .infer = infer, .quantized = quantized::per_tensor}),
      .summary = "a computation on scalars, for each element (spec: map)",
      .traits = {},
      .evaluate = evaluate,
      .jvp = jvp_decomposed,
      .linearize = None{"split by dependence on the tangents"},
      .transpose = transpose_decomposed,
      .batch = batch_decomposed,
      .shard = pointwise_factors,
      .cost = cost,
      .lowering = None{"it is decomposed"},
      .decompose = decompose,
  };
  return d;
}

}  // namespace strata::op
