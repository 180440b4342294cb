// select: on_true where pred holds, on_false elsewhere; a scalar pred chooses one of the arrays.
//
// Contract (spec: select): pred of i1, (C1) a scalar or of on_true's shape; (C2) both choices and
// the result have one type.
#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands("select", operands, 3);
  const Type &pred = operands[0]->type(), &x = operands[1]->type(), &y = operands[2]->type();
  if (pred.dtype() != DType::i1)
    throw Error("select", "the predicate must be i1, got {} (I1)", pred.to_string());
  if (pred.rank() != 0 && !may_equal(pred.shape(), x.shape()))  // select_c1
    throw Error("select", "the predicate {} must be a scalar or have the shape of {} (C1)",
                pred.to_string(), x.to_string());
  if (x.dtype() != y.dtype() || !may_equal(x.shape(), y.shape()))  // select_c2
    throw Error("select", "both choices must have one type, got {} and {} (C2)", x.to_string(),
                y.to_string());
  return {x.with(merged(x.shape(), y.shape()))};
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  Literal out(op.result()->type());
  auto pred = operands[0].span<bool>();
  bool one = operands[0].type().rank() == 0;
  for (std::int64_t i = 0; i < out.count(); ++i)
    copy_element(operands[pred[one ? 0 : static_cast<std::size_t>(i)] ? 1 : 2], i, out, i);
  return {std::move(out)};
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  Value* z = again(b, op, operands).result();
  if (all_null(tangents.subspan(1))) return {{z}, {nullptr}};
  return {{z},
          {select(b, operands[0], or_zeros(b, tangents[1], operands[1]),
                  or_zeros(b, tangents[2], operands[2]))}};
}

Values transpose_rule(Builder& b, const Op&, std::span<Value* const> operands,
                      const std::vector<bool>& linear, std::span<Value* const> ct) {
  if (!ct[0]) return {nullptr, nullptr, nullptr};
  Value* zero = zeros_like(b, ct[0]);
  return {nullptr, linear[1] ? select(b, operands[0], ct[0], zero) : nullptr,
          linear[2] ? select(b, operands[0], zero, ct[0]) : nullptr};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t size) {
  Value* pred = operands[0];
  Shape shape = with_leading(op.result()->type(), size).shape();
  bool scalar_pred = op.operand(0)->rank() == 0;
  if (scalar_pred && batched[0]) pred = broadcast_in_dim(b, pred, shape, {0});
  if (!scalar_pred) pred = batched_operand(b, pred, batched[0], size);
  Value* x = batched_operand(b, operands[1], batched[1], size);
  Value* y = batched_operand(b, operands[2], batched[2], size);
  return {{select(b, pred, x, y)}, {true}};
}

loop::Inst* element(LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
  loop::Inst* pred =
      c.operand(op, 0, op.operand(0)->rank() == 0 ? std::span<const loop::Index>() : index);
  return c.b.select(pred, c.operand(op, 1, index), c.operand(op, 2, index));
}

Work cost(const Op& op) { return {elements(op), bytes_moved(op)}; }

/// Whatever the elements are, they are not looked into.
std::vector<Parts> split(Builder& b, const Op&, std::span<const Parts> operands) {
  Parts out;
  for (std::size_t p = 0; p < operands[1].size(); ++p)
    out.push_back(select(b, operands[0][0], operands[1][p], operands[2][p]));
  return {out};
}

}  // namespace

const OpDef& select_def() {
  static const OpDef def{
      .info = ir::inferred_by("C2", {.name = "stablehlo.select",
                                     .infer = infer,
                                     .text = &ir::formats::select,
                                     .quantized = quantized::baseline}),
      .summary = "chooses between two arrays (spec: select)",
      .traits = {.elementwise = true, .cheap = true},
      .evaluate = evaluate,
      .jvp = jvp,
      .linearize = None{"no regions"},
      .transpose = transpose_rule,
      .batch = batch,
      .shard = pointwise_factors,
      .cost = cost,
      .lowering = Elementwise{element},
      .split = split,
  };
  return def;
}

}  // namespace strata::op
