// strata.custom_vjp: a function with its own reverse derivative; strata.custom_vjp_linear: that
// derivative, not yet transposed.
//
// Regions of custom_vjp: primal (operands...) -> (results...); fwd (operands...) -> (results...,
// residuals...); bwd (residuals..., cotangents of all results...) -> cotangents of the operands
// numbered in `differentiable`. (C1) the regions take and return those types, with `num_residuals`
// residuals; (C2) `differentiable` lists inexact operands.
//
// custom_vjp_linear takes (residuals..., tangents of the differentiable operands...) and stands for
// tangents of the results. Only its transpose is known, so it is not compiled, and `transform::jvp`
// refuses it; the reference evaluator takes the transpose's columns one by one.
#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/support.h"
#include "strata/op/control.h"
#include "strata/op/rules.h"

namespace strata::op {

const OpDef& custom_vjp_linear_def();
const OpDef& custom_vjp_def();
namespace {

using Flags = std::vector<bool>;

std::size_t residual_count(const Attrs& attrs) {
  std::int64_t n = expect_attr<std::int64_t>("custom_vjp", attrs, "num_residuals");
  if (n < 0) throw Error("custom_vjp", "num_residuals is negative: {}", n);
  return static_cast<std::size_t>(n);
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const BlockPtr> regions) {
  if (regions.size() != 3)
    throw Error("custom_vjp", "needs a primal, a fwd and a bwd, got {} regions", regions.size());
  std::size_t n = residual_count(attrs);
  std::vector<Type> in = types_of(operands), out = regions[0]->result_types(),
                    kept = regions[1]->result_types();
  expect_types("custom_vjp", "arguments of the primal (C1)",
               types_of(regions[0]->argument_values()), in);
  expect_types("custom_vjp", "arguments of fwd (C1)", types_of(regions[1]->argument_values()), in);
  if (kept.size() != out.size() + n)
    throw Error("custom_vjp", "fwd returns {} values, needs {} results and {} residuals (C1)",
                kept.size(), out.size(), n);
  std::vector<Type> residuals = part(kept, out.size(), n), cotangents;
  expect_types("custom_vjp", "results of fwd (C1)", part(kept, 0, out.size()), out);
  expect_types("custom_vjp", "arguments of bwd (residuals, cotangents) (C1)",
               types_of(regions[2]->argument_values()), joined(residuals, out));
  for (std::int64_t i : expect_attr<Ints>("custom_vjp", attrs, "differentiable")) {
    if (i < 0 || i >= static_cast<std::int64_t>(in.size()) ||
        !is_differentiable(in[static_cast<std::size_t>(i)]))
      throw Error("custom_vjp", "operand {} cannot have a cotangent (C2)", i);
    cotangents.push_back(in[static_cast<std::size_t>(i)]);
  }
  expect_types("custom_vjp", "results of bwd (C1)", regions[2]->result_types(), cotangents);
  return out;
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  return evaluator.run(op.region(0), operands);
}

Values linear_part(Builder& b, BlockPtr bwd, std::int64_t num_residuals, Values operands) {
  std::vector<BlockPtr> regions;
  regions.push_back(std::move(bwd));
  return b
      .create(custom_vjp_linear_def().info, std::move(operands), {{"num_residuals", num_residuals}},
              std::move(regions))
      .results();
}

JvpResult jvp_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                   std::span<Value* const> tangents) {
  Values out = ir::inline_block(b, op.region(1), operands);
  std::size_t n = static_cast<std::size_t>(op.num_results());
  Values arguments = part(out, n, out.size() - n);
  Flags taken(operands.size(), false);
  for (std::int64_t i : op.attr<Ints>("differentiable")) {
    std::size_t at = static_cast<std::size_t>(i);
    taken[at] = true;
    arguments.push_back(or_zeros(b, tangents[at], operands[at]->type()));
  }
  for (std::size_t i = 0; i < taken.size(); ++i)
    if (tangents[i] && !taken[i])
      throw Error("custom_vjp", "operand {} has a derivative, but bwd returns no cotangent for it",
                  i);
  JvpResult r{part(out, 0, n), linear_part(b, ir::clone(op.region(2)),
                                           op.attr<std::int64_t>("num_residuals"), arguments)};
  for (std::size_t i = 0; i < n; ++i)
    if (!is_differentiable(r.results[i]->type())) r.tangents[i] = nullptr;
  return r;
}

// bwd on batched cotangents; an operand that is the same for all inputs gets the sum of its
// cotangents.
BlockPtr batched_bwd(const Block& bwd, const Flags& residuals, const Flags& operands,
                     std::int64_t size) {
  std::size_t n = static_cast<std::size_t>(bwd.num_arguments()) - residuals.size();
  BatchedBlock out = batch(bwd, joined(residuals, Flags(n, true)), size, operands);
  Builder b(*out.block);
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (!operands[i] && out.batched[i])
      out.block->results[i] = reduce_sum(b, out.block->results[i], {0});
  return std::move(out.block);
}

Batched batch_rule(Builder& b, const Op& op, std::span<Value* const> operands, const Flags& batched,
                   std::int64_t size) {
  std::size_t n = static_cast<std::size_t>(op.num_results()),
              residuals = static_cast<std::size_t>(op.attr<std::int64_t>("num_residuals"));
  Flags all(n, true), differentiable;
  for (std::int64_t i : op.attr<Ints>("differentiable"))
    differentiable.push_back(batched[static_cast<std::size_t>(i)]);
  BatchedBlock primal = batch(op.region(0), batched, size, all);
  BatchedBlock fwd = batch(op.region(1), batched, size, joined(all, Flags(residuals, false)));
  BlockPtr bwd = batched_bwd(op.region(2), part(fwd.batched, n, residuals), differentiable, size);
  return {custom_vjp(b, std::move(primal.block), std::move(fwd.block), std::move(bwd),
                     {operands.begin(), operands.end()}, op.attr<Ints>("differentiable")),
          all};
}

Values no_transpose(Builder&, const Op&, std::span<Value* const>, const Flags&,
                    std::span<Value* const>) {
  throw Error("custom_vjp",
              "a function with its own reverse derivative is not transposed as if it were linear");
}

Work cost(const Op& op) { return cost_of(op.region(0)); }

// ---- custom_vjp_linear -------------------------------------------------------------------------

std::vector<Type> infer_linear(std::span<Value* const> operands, const Attrs& attrs,
                               std::span<const BlockPtr> regions) {
  if (regions.size() != 1)
    throw Error("custom_vjp_linear", "needs one region, got {}", regions.size());
  std::size_t n = residual_count(attrs);
  std::vector<Type> in = types_of(operands), arguments = types_of(regions[0]->argument_values());
  if (n > in.size() || n > arguments.size())
    throw Error("custom_vjp_linear", "{} residuals of {} operands", n, in.size());
  expect_types("custom_vjp_linear", "residuals", part(arguments, 0, n), part(in, 0, n));
  expect_types("custom_vjp_linear", "results of bwd", regions[0]->result_types(),
               part(in, n, in.size() - n));
  return part(arguments, n, arguments.size() - n);
}

double inner(std::span<const Literal> a, std::span<const Literal> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::int64_t k = 0; k < a[i].count(); ++k) sum += a[i].number(k) * b[i].number(k);
  return sum;
}

// Element k of result r is <e, J v> = <J' e, v> for the unit cotangent e at that place.
Literals evaluate_linear(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  std::size_t n = static_cast<std::size_t>(op.attr<std::int64_t>("num_residuals"));
  Literals arguments(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(n)), out;
  for (Value* v : op.results()) arguments.emplace_back(v->type()), out.emplace_back(v->type());
  for (std::size_t r = 0; r < out.size(); ++r)
    for (std::int64_t k = 0; is_differentiable(out[r].type()) && k < out[r].count(); ++k) {
      Literal unit(out[r].type());
      unit.set_number(k, 1);
      arguments[n + r] = unit;
      out[r].set_number(k, inner(evaluator.run(op.region(0), arguments), operands.subspan(n)));
      arguments[n + r] = Literal(out[r].type());
    }
  return out;
}

JvpResult linear_jvp_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                          std::span<Value* const> tangents) {
  std::int64_t n = op.attr<std::int64_t>("num_residuals");
  Values along;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    bool is_residual = i < static_cast<std::size_t>(n);
    if (is_residual && tangents[i])
      throw Error("custom_vjp",
                  "forward-mode differentiation does not work for a function with custom_vjp");
    along.push_back(is_residual ? operands[i] : or_zeros(b, tangents[i], operands[i]->type()));
  }
  JvpResult r{linear_part(b, ir::clone(op.region(0)), n, {operands.begin(), operands.end()}),
              linear_part(b, ir::clone(op.region(0)), n, along)};
  for (std::size_t i = 0; i < r.results.size(); ++i)
    if (!is_differentiable(r.results[i]->type())) r.tangents[i] = nullptr;
  return r;
}

Values linear_transpose(Builder& b, const Op& op, std::span<Value* const> operands,
                        const Flags& linear, std::span<Value* const> cotangents) {
  std::size_t n = static_cast<std::size_t>(op.attr<std::int64_t>("num_residuals"));
  Values arguments;
  for (std::size_t i = 0; i < n; ++i) {
    STRATA_CHECK(!linear[i], "residual {} of custom_vjp_linear depends on a tangent", i);
    arguments.push_back(operands[i]);
  }
  for (std::size_t i = 0; i < cotangents.size(); ++i)
    arguments.push_back(or_zeros(b, cotangents[i], op.result(static_cast<int>(i))->type()));
  Values out = ir::inline_block(b, op.region(0), arguments);
  out.insert(out.begin(), n, nullptr);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!linear[i]) out[i] = nullptr;
  return out;
}

Batched linear_batch(Builder& b, const Op& op, std::span<Value* const> operands,
                     const Flags& batched, std::int64_t size) {
  std::int64_t n = op.attr<std::int64_t>("num_residuals");
  std::size_t count = static_cast<std::size_t>(n);
  BlockPtr bwd = batched_bwd(op.region(0), part(batched, 0, count),
                             part(batched, count, batched.size() - count), size);
  return {linear_part(b, std::move(bwd), n, {operands.begin(), operands.end()}),
          Flags(static_cast<std::size_t>(op.num_results()), true)};
}

}  // namespace

Values custom_vjp(Builder& b, BlockPtr primal, BlockPtr fwd, BlockPtr bwd, Values operands,
                  Ints differentiable) {
  std::int64_t residuals = static_cast<std::int64_t>(fwd->results.size()) -
                           static_cast<std::int64_t>(primal->results.size());
  std::vector<BlockPtr> regions;
  regions.push_back(std::move(primal));
  regions.push_back(std::move(fwd));
  regions.push_back(std::move(bwd));
  return b
      .create(custom_vjp_def().info, std::move(operands),
              {{"num_residuals", residuals}, {"differentiable", std::move(differentiable)}},
              std::move(regions))
      .results();
}

const OpDef& custom_vjp_def() {
  static const OpDef def{
      .info = {.name = "strata.custom_vjp", .infer = infer, .isolated = true},
      .summary = "a function with its own reverse derivative (jax.custom_vjp)",
      .traits = {},
      .evaluate = evaluate,
      .jvp = jvp_rule,
      .linearize = None{"sorted from its jvp"},
      .transpose = no_transpose,
      .batch = batch_rule,
      .shard = None{"sharding passes along the edges of the primal, not through factors"},
      .cost = cost,
      .lowering = Structured{Structured::Kind::call},
      .decompose = call_first_region,
  };
  return def;
}

const OpDef& custom_vjp_linear_def() {
  static const OpDef def{
      .info = {.name = "strata.custom_vjp_linear", .infer = infer_linear, .isolated = true},
      .summary = "the derivative of a custom_vjp, which only its transpose defines",
      .traits = {},
      .evaluate = evaluate_linear,
      .jvp = linear_jvp_rule,
      .linearize = None{"sorted from its jvp"},
      .transpose = linear_transpose,
      .batch = linear_batch,
      .shard = None{"it is transposed before programs are partitioned"},
      .cost = cost,
      .lowering = None{"forward-mode differentiation does not work for a function with custom_vjp"},
  };
  return def;
}

}  // namespace strata::op
