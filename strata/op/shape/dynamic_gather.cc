// dynamic_gather: gather of slices whose sizes an operand holds.
//
// Contract (spec: dynamic_gather): operand, start_indices, slice_sizes (integers of rank 1);
// attributes as gather's but for slice_sizes. (C11) slice_sizes has an entry per dimension of the
// operand; (C14) the result has the operand's element type; (C1) to (C7), (C9), (C10) and (C13) are
// gather's (indexing.h) under other numbers, for want of batching dimensions, which are admitted
// here as there; (C8) and (C12), on slice_sizes, are checked where these are known.
#include "strata/op/index/indexing.h"
#include "strata/op/shape/dynamic.h"

namespace strata::op {
namespace {

void verify(const Op& op) {
  const char* self = "dynamic_gather";
  expect_operands(self, op.operands, 3);
  expect_element_type(op, "C14");
  const Type &operand = op.operand(0)->type(), &indices = op.operand(1)->type();
  IndexDims d = gather_dims(op.attrs);
  expect_index_dims(self, d, operand, indices, op.result()->rank(), kDynamicGatherConstraints);
  std::vector<Dim> outer = outer_sizes(d, indices);
  bool fits = op.result()->rank() == static_cast<int>(outer.size() + d.window.size());
  Ints outer_dims = d.outer(op.result()->rank());
  for (std::size_t i = 0; fits && i < outer.size(); ++i)
    fits = may_equal(op.result()->shape().dim(static_cast<int>(outer_dims[i])), outer[i]);
  if (!fits)
    throw Error(self, "slices at the indices {} do not make up {} (C13)", indices.to_string(),
                op.result()->type().to_string());
  expect_shape_operand(self, "slice_sizes (C11)", op.operand(2), operand.rank());
}

Values decompose(Builder& b, const Op& op, std::span<Value* const> operands) {
  const char* self = "dynamic_gather";
  Ints sizes = expect_known(self, "the size of a slice", operands[2]);
  for (std::int64_t d : gather_dims(op.attrs).dropped)
    if (std::int64_t size = sizes[static_cast<std::size_t>(d)]; size > 1)
      throw Error(self,
                  "dimension {} is collapsed, so its slice size must be at most 1, got {} (C8)", d,
                  size);
  for (int d = 0; d < operands[0]->rank(); ++d) {
    const Dim& whole = operands[0]->shape().dim(d);
    if (std::int64_t size = sizes[static_cast<std::size_t>(d)];
        size < 0 || (whole.is_static() && size > whole.size()))
      throw Error(self, "slice size {} does not fit dimension {} of {} (C12)", size, d,
                  operands[0]->type().to_string());
  }
  Attrs attrs = op.attrs;
  attrs.set("slice_sizes", std::move(sizes));
  return b.create(def("stablehlo.gather").info, {operands[0], operands[1]}, std::move(attrs))
      .results();
}

std::vector<int> needs(const Op&) { return {2}; }

}  // namespace

const OpDef& dynamic_gather_def() {
  static const OpDef def = dynamic(
      {.name = "stablehlo.dynamic_gather",
       .summary =
           "slices, of a size that an operand holds, from indexed places (spec: dynamic_gather)",
       .verify = verify,
       .decompose = decompose,
       .needs = needs,
       .text = &ir::formats::dynamic_gather});
  return def;
}

}  // namespace strata::op
