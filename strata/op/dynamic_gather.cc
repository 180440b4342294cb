// dynamic_gather: gather of slices whose sizes an operand holds.
//
// Contract (spec: dynamic_gather): operand, start_indices, slice_sizes (integers of rank 1); attributes as gather's but for
// slice_sizes. (C1) slice_sizes has an entry per dimension of the operand; the other constraints are gather's, checked where
// the sizes are known; (C22) the result has the operand's element type.
#include "strata/op/dynamic.h"

namespace strata::op {
namespace {

void verify(const Op& op) {
  const char* self = "dynamic_gather";
  expect_operands(self, op.operands, 3);
  expect_element_type(op, "C22");
  expect_shape_operand(self, "(C1) slice_sizes", op.operand(2), op.operand(0)->rank());
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  Attrs attrs = op.attrs;
  attrs.set("slice_sizes", expect_known("dynamic_gather", "the size of a slice", operands[2]));
  return b.create(def("stablehlo.gather").info, {operands[0], operands[1]}, std::move(attrs)).results();
}

}  // namespace

const OpDef& dynamic_gather_def() {
  static const OpDef def = dynamic({.name = "stablehlo.dynamic_gather",
                                    .summary = "slices, of a size that an operand holds, from indexed places (spec: dynamic_gather)",
                                    .verify = verify,
                                    .decompose = decompose,
                                    .text = &ir::formats::dynamic_gather});
  return def;
}

}  // namespace strata::op
