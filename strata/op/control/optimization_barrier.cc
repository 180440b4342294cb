// stablehlo.optimization_barrier: its operands, which no simplification sees through.
//
// Contract (StableHLO, optimization_barrier): any number of operands; (C1) results have their
// types. `Traits::barrier` keeps passes from merging equal barriers or looking past one, so that
// what remat computes again stays computed again.
#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&,
                        std::span<const std::unique_ptr<Block>>) {
  std::vector<Type> types;
  for (Value* v : operands) types.push_back(v->type());
  return types;
}

Literals evaluate(const Op&, std::span<const Literal> operands, Evaluator&) {
  return Literals(operands.begin(), operands.end());
}

/// A barrier of those values that are there; null stays null.
Values barrier_of_present(Builder& b, std::span<Value* const> values) {
  Values present, out;
  for (Value* v : values)
    if (v) present.push_back(v);
  if (!present.empty()) present = optimization_barrier(b, present);
  auto next = present.begin();
  for (Value* v : values) out.push_back(v ? *next++ : nullptr);
  return out;
}

JvpResult jvp(Builder& b, const Op& op, std::span<Value* const> operands,
              std::span<Value* const> tangents) {
  return {again(b, op, operands).results(), barrier_of_present(b, tangents)};
}

Values transpose_rule(Builder& b, const Op&, std::span<Value* const>,
                      const std::vector<bool>& linear, std::span<Value* const> cotangents) {
  Values wanted(cotangents.begin(), cotangents.end());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!linear[i]) wanted[i] = nullptr;
  return barrier_of_present(b, wanted);
}

Batched batch(Builder& b, const Op&, std::span<Value* const> operands,
              const std::vector<bool>& batched, std::int64_t) {
  return {optimization_barrier(b, Values(operands.begin(), operands.end())), batched};
}

Factors shard(const Op& op) {
  FactorTable t(op);
  for (int i = 0; i < op.num_results(); ++i)
    for (int d = 0; d < op.result(i)->rank(); ++d) {
      int f = t.factor('p', op.result(i)->shape().dim(d).bound());
      t.operand(i, d, f);
      t.result(i, d, f);
    }
  return t.take();
}

Work cost(const Op&) { return {}; }

loop::Inst* element(LowerContext& context, const Op& op, int r,
                    std::span<const loop::Index> index) {
  return context.operand(op, r, index);
}

/// Of all parts at once.
std::vector<Parts> split(Builder& b, const Op&, std::span<const Parts> operands) {
  Values all;
  for (const Parts& parts : operands) all.insert(all.end(), parts.begin(), parts.end());
  all = optimization_barrier(b, all);
  std::vector<Parts> out;
  auto next = all.begin();
  for (const Parts& parts : operands) {
    auto end = next + static_cast<std::ptrdiff_t>(parts.size());
    out.emplace_back(next, end);
    next = end;
  }
  return out;
}

}  // namespace

const OpDef& optimization_barrier_def() {
  static const OpDef d{
      .info = ir::inferred_by("C1", {.name = "stablehlo.optimization_barrier",
                                     .infer = infer,
                                     .text = &ir::formats::optimization_barrier,
                                     .quantized = quantized::per_tensor}),
      .summary =
          "its operands, which no simplification sees through (StableHLO, optimization_barrier)",
      .traits = {.barrier = true, .takes_quantized = true},
      .evaluate = evaluate,
      .jvp = jvp,
      .linearize = None{"no regions"},
      .transpose = transpose_rule,
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = Elementwise{element},
      .split = split,
  };
  return d;
}

}  // namespace strata::op
