// strata.custom_jvp: a function with its own forward derivative.
//
// Regions: primal (operands...) -> (results...), and jvp (primals..., tangents...) -> (results...,
// tangents of results...). (C1) both take and return those types; there is one tangent per primal
// and per result, of the same type. Tangents of booleans and integers are given as zeros and
// ignored where returned.
#include "strata/base/error.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/support.h"
#include "strata/op/calculus/transpose.h"
#include "strata/op/control.h"
#include "strata/op/rules.h"

namespace strata::op {

const OpDef& custom_jvp_def();
namespace {

using Flags = std::vector<bool>;

std::vector<Type> infer(std::span<Value* const> operands, const Attrs&,
                        std::span<const BlockPtr> regions) {
  if (regions.size() != 2)
    throw Error("custom_jvp", "needs a primal and a jvp, got {} regions", regions.size());
  std::vector<Type> in = types_of(operands), out = regions[0]->result_types();
  expect_types("custom_jvp", "arguments of the primal (C1)",
               types_of(regions[0]->argument_values()), in);
  expect_types("custom_jvp", "arguments of the jvp (primals, tangents) (C1)",
               types_of(regions[1]->argument_values()), joined(in, in));
  expect_types("custom_jvp", "results of the jvp (results, tangents) (C1)",
               regions[1]->result_types(), joined(out, out));
  return out;
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  return evaluator.run(op.region(0), operands);
}

JvpResult jvp_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                   std::span<Value* const> tangents) {
  Values arguments(operands.begin(), operands.end());
  for (std::size_t i = 0; i < operands.size(); ++i)
    arguments.push_back(or_zeros(b, tangents[i], operands[i]->type()));
  Values out = ir::inline_block(b, op.region(1), arguments);
  std::size_t n = static_cast<std::size_t>(op.num_results());
  JvpResult r{part(out, 0, n), part(out, n, n)};
  for (std::size_t i = 0; i < n; ++i)
    if (!is_differentiable(r.results[i]->type())) r.tangents[i] = nullptr;
  return r;
}

// Of linear operands the function itself must be linear.
Values transpose_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                      const Flags& linear, std::span<Value* const> cotangents) {
  return transpose(b, op.region(0), operands, linear, cotangents);
}

Batched batch_rule(Builder& b, const Op& op, std::span<Value* const> operands, const Flags& batched,
                   std::int64_t size) {
  Flags all(static_cast<std::size_t>(op.num_results()), true);
  BatchedBlock primal = batch(op.region(0), batched, size, all);
  BatchedBlock jvp = batch(op.region(1), joined(batched, batched), size, joined(all, all));
  return {custom_jvp(b, std::move(primal.block), std::move(jvp.block),
                     {operands.begin(), operands.end()}),
          all};
}

Work cost(const Op& op) { return cost_of(op.region(0)); }

}  // namespace

Values custom_jvp(Builder& b, BlockPtr primal, BlockPtr jvp, Values operands) {
  std::vector<BlockPtr> regions;
  regions.push_back(std::move(primal));
  regions.push_back(std::move(jvp));
  return b.create(custom_jvp_def().info, std::move(operands), {}, std::move(regions)).results();
}

const OpDef& custom_jvp_def() {
  static const OpDef def{
      .info = {.name = "strata.custom_jvp", .infer = infer, .isolated = true},
      .summary = "a function with its own forward derivative (jax.custom_jvp)",
      .traits = {},
      .evaluate = evaluate,
      .jvp = jvp_rule,
      .linearize = None{"sorted from its jvp"},
      .transpose = transpose_rule,
      .batch = batch_rule,
      .shard = None{"sharding passes along the edges of the primal, not through factors"},
      .cost = cost,
      .lowering = Structured{Structured::Kind::call},
      .decompose = call_first_region,
  };
  return def;
}

}  // namespace strata::op
