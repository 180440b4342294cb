// reverse: the order of elements along `dimensions` turned round.
//
// Contract (spec: reverse): (C1) the result has the operand's type; dimensions are (C2) unique and
// (C3) the operand's.
#include <algorithm>

#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

const Ints& dims_of(const Op& op) { return op.attr<Ints>("dimensions"); }
bool reverses(const Op& op, std::size_t d) {
  return std::count(dims_of(op).begin(), dims_of(op).end(), static_cast<std::int64_t>(d)) > 0;
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("reverse", operands, 1);
  const Type& in = operands[0]->type();
  const Ints& dims = expect_attr<Ints>("reverse", attrs, "dimensions");
  for (std::int64_t d : dims) {
    if (std::count(dims.begin(), dims.end(), d) > 1)
      throw Error("reverse", "dimension {} of {} is named twice (C2)", d, in.to_string());
    if (d < 0 || d >= in.rank())
      throw Error("reverse", "dimension {} is outside of {} (C3)", d, in.to_string());
  }
  return {in};  // reverse_c1
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const Shape& shape = operands[0].shape();
  std::vector<std::int64_t> strides = shape.strides();
  return {moved(operands[0], op.result()->type(), [&](std::span<const std::int64_t> index) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < index.size(); ++d)
      at += (reverses(op, d) ? shape[static_cast<int>(d)] - 1 - index[d] : index[d]) * strides[d];
    return at;
  })};
}

Values transpose_rule(Builder& b, const Op& op, std::span<Value* const>, const std::vector<bool>&,
                      std::span<Value* const> ct) {
  return {ct[0] ? reverse(b, ct[0], dims_of(op)) : nullptr};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands, const std::vector<bool>&,
              std::int64_t) {
  return {{reverse(b, operands[0], shifted(dims_of(op)))}, {true}};
}

Factors shard(const Op& op) {
  Factors out = pointwise_factors(op);
  for (std::int64_t d : dims_of(op)) out.kinds[static_cast<std::size_t>(d)] = 'm';
  return out;
}

loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  std::vector<loop::Index> from(index.begin(), index.end());
  for (std::int64_t d : dims_of(op)) {
    auto i = static_cast<std::size_t>(d);
    from[i] = loop::Index(op.operand(0)->shape()[static_cast<int>(d)] - 1) - index[i];
  }
  return c.operand(op, 0, from);
}

}  // namespace

const OpDef& reverse_def() {
  static const OpDef def{
      .info = ir::inferred_by("C1", {.name = "stablehlo.reverse",
                                     .infer = infer,
                                     .text = &ir::formats::reverse,
                                     .quantized = quantized::moved}),
      .summary = "turns the order along some dimensions round (spec: reverse)",
      .traits = {.cheap = true, .moves_only = true},
      .evaluate = evaluate,
      .jvp = linear_jvp,
      .linearize = None{"no regions"},
      .transpose = transpose_rule,
      .batch = batch,
      .shard = shard,
      .cost = move_cost,
      .lowering = Elementwise{element},
  };
  return def;
}

}  // namespace strata::op
