// dynamic_reshape: reshape to sizes that an operand holds. chlo.dynamic_reshape is the same.
//
// Contract (spec: dynamic_reshape): operand, output_shape (integers of rank 1).
//   (C1) the result has the operand's element type; (C2) as many elements; (C3) an axis of
//   quantisation keeps its size and what stands before and behind it; (C4) output_shape has an
//   entry per dimension.
#include "strata/op/shape/dynamic.h"

namespace strata::op {
namespace {

void verify(const Op& op) {
  expect_operands("dynamic_reshape", op.operands, 2);
  expect_element_type(op, "C1");
  const Shape &in = op.operand(0)->shape(), &out = op.result()->shape();
  if (in.is_static() && out.is_static() && in.count() != out.count())
    throw Error("dynamic_reshape", "cannot reshape {} with {} elements to {} with {} (C2)",
                op.operand(0)->type().to_string(), in.count(), op.result()->type().to_string(),
                out.count());
  expect_shape_operand("dynamic_reshape", "output_shape (C4)", op.operand(1), out.rank());
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  Shape shape = refined_shape(op, operands[1]);
  Type type = op.result()->type().with(shape);
  if (shape == operands[0]->shape()) return {operands[0]};
  Op& made = b.create(def("stablehlo.reshape").info, {operands[0]}, {}, {}, {type});
  if (operands[0]->shape().is_static()) made.info().verify(made);
  return made.results();
}

}  // namespace

std::span<const OpDef> dynamic_reshape_defs() {
  static const OpDef rows[] = {
      dynamic({.name = "chlo.dynamic_reshape",
               .summary = "the same elements under a shape that an operand holds",
               .verify = verify,
               .decompose = decompose,
               .needs = unstated_sizes,
               .text = &ir::formats::functional,
               .quantized = quantized::reshaped}),
      dynamic({.name = "stablehlo.dynamic_reshape",
               .summary =
                   "the same elements under a shape that an operand holds (spec: dynamic_reshape)",
               .verify = verify,
               .decompose = decompose,
               .needs = unstated_sizes,
               .text = &ir::formats::functional,
               .quantized = quantized::reshaped}),
  };
  return rows;
}

}  // namespace strata::op
