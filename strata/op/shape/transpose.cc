// transpose: dimension i of the result is dimension permutation[i] of the operand.
//
// Contract (spec: transpose): (C1) the result has the operand's element type; (C2) permutation is
// one of the operand's dimensions; (C3) sizes move along; (C4) an axis of quantisation does too.
#include <fmt/format.h>

#include <algorithm>

#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"
#include "strata/type/permutation.h"

namespace strata::op {
namespace {

const Ints& permutation_of(const Op& op) { return op.attr<Ints>("permutation"); }

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("transpose", operands, 1);
  const Type& in = operands[0]->type();
  const Ints& permutation = expect_attr<Ints>("transpose", attrs, "permutation");
  expect_length("transpose", "permutation (C2)", permutation, in.rank());
  std::vector<Dim> dims;
  for (std::int64_t from : permutation) {
    if (from < 0 || from >= in.rank() ||
        std::count(permutation.begin(), permutation.end(), from) > 1)  // transpose_c2
      throw Error("transpose", "permutation [{}] is none of the dimensions of {} (C2)",
                  fmt::join(permutation, ", "), in.to_string());
    dims.push_back(in.shape().dim(static_cast<int>(from)));
  }
  return {in.with(Shape(std::move(dims)))};  // transpose_c1, transpose_c3
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const Ints& permutation = permutation_of(op);
  std::vector<std::int64_t> strides = operands[0].shape().strides();
  return {moved(operands[0], op.result()->type(), [&](std::span<const std::int64_t> index) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < index.size(); ++d)
      at += index[d] * strides[static_cast<std::size_t>(permutation[d])];
    return at;
  })};
}

Values transpose_rule(Builder& b, const Op& op, std::span<Value* const>, const std::vector<bool>&,
                      std::span<Value* const> ct) {
  if (!ct[0]) return {nullptr};
  return {transpose(b, ct[0], inverse_permutation(permutation_of(op)))};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands, const std::vector<bool>&,
              std::int64_t) {
  return {{transpose(b, operands[0], prepended(0, shifted(permutation_of(op))))}, {true}};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  for (int d = 0; d < op.result()->rank(); ++d) {
    int f = t.factor('p', op.result()->shape().dim(d).bound());
    t.result(0, d, f);
    t.operand(0, static_cast<int>(permutation_of(op)[static_cast<std::size_t>(d)]), f);
  }
  return t.take();
}

loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  std::vector<loop::Index> from(index.size());
  for (std::size_t d = 0; d < index.size(); ++d)
    from[static_cast<std::size_t>(permutation_of(op)[d])] = index[d];
  return c.operand(op, 0, from);
}

}  // namespace

const OpDef& transpose_def() {
  static const OpDef def{
      .info = ir::inferred_by("C1, C3", {.name = "stablehlo.transpose",
                                         .infer = infer,
                                         .text = &ir::formats::transpose,
                                         .quantized = quantized::transposed}),
      .summary = "permutes dimensions (spec: transpose)",
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
