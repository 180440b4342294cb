// optimization_barrier: the operands themselves, after all of them; passes move nothing across it.
#include "strata/op/build.h"
#include "strata/op/catalog.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&, std::span<const std::unique_ptr<Block>>) {
  std::vector<Type> types;
  for (Value* v : operands) types.push_back(v->type());
  return types;  // optimization_barrier_c1
}

Literals evaluate(const Op&, std::span<const Literal> operands, Evaluator&) { return Literals(operands.begin(), operands.end()); }

/// A barrier for the values, another for the tangents that are there.
JvpResult jvp(Builder& b, const Op&, std::span<Value* const> operands, std::span<Value* const> tangents) {
  JvpResult out{optimization_barrier(b, Values(operands.begin(), operands.end())), Values(operands.size(), nullptr)};
  Values present;
  for (Value* t : tangents)
    if (t) present.push_back(t);
  if (present.empty()) return out;
  Values held = optimization_barrier(b, present);
  std::size_t next = 0;
  for (std::size_t i = 0; i < tangents.size(); ++i)
    if (tangents[i]) out.tangents[i] = held[next++];
  return out;
}

Values transpose_rule(Builder& b, const Op&, std::span<Value* const>, const std::vector<bool>& linear, std::span<Value* const> ct) {
  Values present;
  for (std::size_t i = 0; i < ct.size(); ++i)
    if (ct[i] && linear[i]) present.push_back(ct[i]);
  Values out(ct.size(), nullptr);
  if (present.empty()) return out;
  Values held = optimization_barrier(b, present);
  std::size_t next = 0;
  for (std::size_t i = 0; i < ct.size(); ++i)
    if (ct[i] && linear[i]) out[i] = held[next++];
  return out;
}

Batched batch(Builder& b, const Op&, std::span<Value* const> operands, const std::vector<bool>& batched, std::int64_t) {
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

loop::Inst* element(LowerContext& c, const Op& op, int r, std::span<const loop::Index> index) { return c.operand(op, r, index); }

}  // namespace

const OpDef& optimization_barrier_def() {
  static const OpDef def{
      .info = {.name = "stablehlo.optimization_barrier", .infer = infer},
      .summary = "its operands, which passes leave where they are (spec: optimization_barrier)",
      .traits = {.moves_only = true},
      .evaluate = evaluate,
      .jvp = jvp,
      .linearize = None{"no regions"},
      .transpose = transpose_rule,
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = Elemental{element},
  };
  return def;
}

}  // namespace strata::op
