// dynamic_pad: pad by amounts that operands hold.
//
// Contract (spec: dynamic_pad): operand, padding_value (a scalar), edge_padding_low,
// edge_padding_high, interior_padding (integers of rank 1).
//   (C1) operand, padding value and result have one element type; (C2) the amounts have an entry
//   per dimension; (C3) interior padding is not negative; (C4) each size is low + (n - 1) interior
//   + n + high.
#include "strata/op/shape/dynamic.h"

namespace strata::op {
namespace {

void verify(const Op& op) {
  const char* self = "dynamic_pad";
  expect_operands(self, op.operands, 5);
  expect_element_type(op, "C1");
  const Type &in = op.operand(0)->type(), &value = op.operand(1)->type();
  if (value.rank() != 0 || value.dtype() != in.dtype())
    throw Error(self,
                "the padding value must be a scalar of the operand's type, got {} and {} (C1)",
                value.to_string(), in.to_string());
  if (op.result()->rank() != in.rank())
    throw Error(self, "{} padded is no {} (C4)", in.to_string(), op.result()->type().to_string());
  for (int i = 2; i < 5; ++i)
    expect_shape_operand(self, "an amount of padding (C2)", op.operand(i), in.rank());
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  const char* what = "the padding";
  Ints low = expect_known("dynamic_pad", what, operands[2]),
       high = expect_known("dynamic_pad", what, operands[3]),
       interior = expect_known("dynamic_pad", what, operands[4]);
  for (std::size_t d = 0; d < interior.size(); ++d)
    if (interior[d] < 0)
      throw Error("dynamic_pad", "interior_padding[{}] = {} is negative (C3)", d, interior[d]);
  Value* out = pad(b, operands[0], operands[1], low, high, interior);
  if (!may_equal(out->shape(), op.result()->shape()))
    throw Error("dynamic_pad", "the result is {}, but the amounts give {} (C4)",
                op.result()->type().to_string(), out->type().to_string());
  return {out};
}

std::vector<int> needs(const Op&) { return {2, 3, 4}; }

}  // namespace

const OpDef& dynamic_pad_def() {
  static const OpDef def =
      dynamic({.name = "stablehlo.dynamic_pad",
               .summary = "pad by amounts that operands hold (spec: dynamic_pad)",
               .verify = verify,
               .decompose = decompose,
               .needs = needs,
               .text = &ir::formats::functional});
  return def;
}

}  // namespace strata::op
