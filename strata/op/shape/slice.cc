// slice: every strides[d]-th element from start_indices[d] up to, but not including,
// limit_indices[d].
//
// Contract (spec: slice): (C1) the result has the operand's element type; (C2) each list has an
// entry per dimension; (C3) 0 <= start_indices <= limit_indices <= shape; (C4) strides are
// positive; (C5) sizes are ceil((limit - start) / stride).
#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  const char* self = "slice";
  expect_operands(self, operands, 1);
  const Type& in = operands[0]->type();
  const Ints& start = expect_attr<Ints>(self, attrs, "start_indices");
  const Ints& limit = expect_attr<Ints>(self, attrs, "limit_indices");
  const Ints& strides = expect_attr<Ints>(self, attrs, "strides");
  expect_length(self, "start_indices (C2)", start, in.rank());
  expect_length(self, "limit_indices (C2)", limit, in.rank());
  expect_length(self, "strides (C2)", strides, in.rank());
  std::vector<Dim> dims;
  for (int d = 0; d < in.rank(); ++d) {
    auto i = static_cast<std::size_t>(d);
    const Dim& dim = in.shape().dim(d);
    if (start[i] < 0 || start[i] > limit[i] ||
        (dim.is_static() && limit[i] > dim.size()))  // slice_c3
      throw Error(self, "[{}, {}) is no range within dimension {} of {} (C3)", start[i], limit[i],
                  d, in.to_string());
    if (strides[i] <= 0)
      throw Error(self, "stride {} of dimension {} is not positive (C4)", strides[i], d);
    dims.push_back((limit[i] - start[i] + strides[i] - 1) / strides[i]);  // slice_c5
  }
  return {in.with(Shape(std::move(dims)))};  // slice_c1
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const Ints &start = op.attr<Ints>("start_indices"), &step = op.attr<Ints>("strides");
  std::vector<std::int64_t> strides = operands[0].shape().strides();
  return {moved(operands[0], op.result()->type(), [&](std::span<const std::int64_t> index) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < index.size(); ++d)
      at += (start[d] + index[d] * step[d]) * strides[d];
    return at;
  })};
}

/// Zeros around and between the cotangent's elements.
Values transpose_rule(Builder& b, const Op& op, std::span<Value* const>, const std::vector<bool>&,
                      std::span<Value* const> ct) {
  if (!ct[0]) return {nullptr};
  const Type& in = op.operand(0)->type();
  if (op.result()->shape().count() == 0) return {zeros(b, in)};
  const Ints &start = op.attr<Ints>("start_indices"), &step = op.attr<Ints>("strides");
  Ints high, interior;
  for (std::size_t d = 0; d < start.size(); ++d) {
    std::int64_t last = start[d] + (op.result()->shape()[static_cast<int>(d)] - 1) * step[d];
    high.push_back(in.shape()[static_cast<int>(d)] - 1 - last);
    interior.push_back(step[d] - 1);
  }
  return {pad(b, ct[0], scalar(b, in.dtype(), 0), start, high, interior)};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands, const std::vector<bool>&,
              std::int64_t size) {
  return {{slice(b, operands[0], prepended(0, op.attr<Ints>("start_indices")),
                 prepended(size, op.attr<Ints>("limit_indices")),
                 prepended(1, op.attr<Ints>("strides")))},
          {true}};
}

loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  const Ints &start = op.attr<Ints>("start_indices"), &step = op.attr<Ints>("strides");
  std::vector<loop::Index> from;
  for (std::size_t d = 0; d < index.size(); ++d) from.push_back(index[d] * step[d] + start[d]);
  return c.operand(op, 0, from);
}

}  // namespace

const OpDef& slice_def() {
  static const OpDef def{
      .info = ir::inferred_by("C1, C5", {.name = "stablehlo.slice",
                                         .infer = infer,
                                         .text = &ir::formats::slice,
                                         .quantized = quantized::moved}),
      .summary = "a strided box of an array (spec: slice)",
      .traits = {.cheap = true, .moves_only = true},
      .evaluate = evaluate,
      .jvp = linear_jvp,
      .linearize = None{"no regions"},
      .transpose = transpose_rule,
      .batch = batch,
      .shard = resized_factors,
      .cost = move_cost,
      .lowering = Elementwise{element},
  };
  return def;
}

}  // namespace strata::op
