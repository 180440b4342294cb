// dynamic_iota: iota of sizes that an operand holds.
//
// Contract (spec: dynamic_iota): output_shape (integers of rank 1); attribute `iota_dimension`.
//   (C1) iota_dimension is within the result; (C2) output_shape has an entry per dimension of the
//   result.
#include "strata/op/shape/dynamic.h"

namespace strata::op {
namespace {

void verify(const Op& op) {
  const char* self = "dynamic_iota";
  expect_operands(self, op.operands, 1);
  const Type& out = op.result()->type();
  std::int64_t dim = expect_attr<std::int64_t>(self, op.attrs, "iota_dimension");
  if (dim < 0 || dim >= out.rank())
    throw Error(self, "iota_dimension {} is outside of {} (C1)", dim, out.to_string());
  expect_shape_operand(self, "output_shape (C2)", op.operand(0), out.rank());
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  return {iota(b, op.result()->type().with(refined_shape(op, operands[0])),
               static_cast<int>(op.attr<std::int64_t>("iota_dimension")))};
}

}  // namespace

const OpDef& dynamic_iota_def() {
  static const OpDef def = dynamic(
      {.name = "stablehlo.dynamic_iota",
       .summary = "counts along a dimension of a shape that an operand holds (spec: dynamic_iota)",
       .verify = verify,
       .decompose = decompose,
       .needs = unstated_sizes,
       .text = &ir::formats::dynamic_iota,
       .quantized = quantized::baseline});
  return def;
}

}  // namespace strata::op
