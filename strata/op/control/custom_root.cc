// strata.custom_root: a root found by a function of the user's, with the derivatives of a root
// (jax.lax.custom_root).
//
// Operands: `count` guesses, then parameters p. Regions:
//   solve (guess..., p...) -> x..., more...     f (x..., p...) -> as many of x's types
//   tangent_solve (x..., y..., p...) -> z...
// (C1) regions take and return those types, x, y and z as the guesses; (C2) guesses are floats or
// complex numbers.
//
// From f(x, p) = 0: dx = -(df/dx)^-1 (df/dp dp), where tangent_solve applies the inverse. Whether f
// vanishes is not checked. The guess and further results have no derivative. The rule holds the
// operation itself, so it can be differentiated again.
#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/jvp.h"
#include "strata/op/calculus/support.h"
#include "strata/op/control/implicit.h"
#include "strata/op/rules.h"

namespace strata::op {

const OpDef& custom_root_def();
namespace {

using Flags = std::vector<bool>;
enum Region : int { kSolve, kFunction, kTangentSolve };

std::size_t count_of(const Op& op) {
  return static_cast<std::size_t>(op.attr<std::int64_t>("count"));
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const BlockPtr> regions) {
  const char* self = "custom_root";
  const std::int64_t count = expect_attr<std::int64_t>(self, attrs, "count");
  if (regions.size() != 3)
    throw Error(self, "needs solve, f and tangent_solve, got {} regions (C1)", regions.size());
  if (count < 0 || count > static_cast<std::int64_t>(operands.size()))
    throw Error(self, "{} guesses of {} operands (C1)", count, operands.size());
  const auto n = static_cast<std::size_t>(count);
  const std::vector<Type> in = types_of(operands), x = part(in, 0, n),
                          params = part(in, n, in.size() - n);
  for (const Type& t : x)
    if (!is_differentiable(t)) throw Error(self, "a guess is {} (C2)", t.to_string());
  std::vector<Type> solution = regions[kSolve]->result_types();
  if (solution.size() > n) solution.resize(n);
  expect_types(self, "arguments of solve (C1)", types_of(regions[kSolve]->argument_values()), in);
  expect_types(self, "results of solve (C1)", solution, x);
  expect_types(self, "arguments of f (C1)", types_of(regions[kFunction]->argument_values()), in);
  expect_types(self, "results of f (C1)", regions[kFunction]->result_types(), x);
  expect_types(self, "arguments of tangent_solve (C1)",
               types_of(regions[kTangentSolve]->argument_values()), joined(joined(x, x), params));
  expect_types(self, "results of tangent_solve (C1)", regions[kTangentSolve]->result_types(), x);
  return regions[kSolve]->result_types();
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  return evaluator.run(op.region(kSolve), operands);
}

RootProblem problem_of(const Op& op) {
  return {ir::clone(op.region(kSolve)), ir::clone(op.region(kFunction)),
          ir::clone(op.region(kTangentSolve))};
}

JvpResult jvp_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                   std::span<Value* const> tangents) {
  const std::size_t n = count_of(op);
  const Values all(operands.begin(), operands.end()), params = part(all, n, all.size() - n);
  JvpResult r{custom_root(b, problem_of(op), part(all, 0, n), params),
              Values(static_cast<std::size_t>(op.num_results()), nullptr)};
  const Values x = part(r.results, 0, n);
  Values along(n, nullptr);
  along.insert(along.end(), tangents.begin() + static_cast<std::ptrdiff_t>(n), tangents.end());
  if (all_null(along)) return r;
  Values y = jvp(b, op.region(kFunction), joined(x, params), along).tangents;
  if (all_null(y)) return r;
  for (std::size_t i = 0; i < n; ++i) y[i] = or_zeros(b, y[i], x[i]->type());
  const Values z = ir::inline_block(b, op.region(kTangentSolve), joined(joined(x, y), params));
  for (std::size_t i = 0; i < n; ++i) r.tangents[i] = neg(b, z[i]);
  return r;
}

Values no_transpose(Builder&, const Op&, std::span<Value* const>, const Flags&,
                    std::span<Value* const>) {
  throw Error("custom_root", "a root is not transposed as if it were linear");
}

Batched batch_rule(Builder& b, const Op& op, std::span<Value* const> operands, const Flags& batched,
                   std::int64_t size) {
  const std::size_t n = count_of(op);
  const Flags solved(n, true), params = part(batched, n, batched.size() - n);
  auto one = [&](Region region, const Flags& in) {
    const Block& block = op.region(region);
    return batch(block, in, size, Flags(block.results.size(), true)).block;
  };
  const Flags in = joined(solved, params);
  Values guess, rest(operands.begin() + static_cast<std::ptrdiff_t>(n), operands.end());
  for (std::size_t i = 0; i < n; ++i)
    guess.push_back(batched_operand(b, operands[i], batched[i], size));
  Values out =
      custom_root(b, {one(kSolve, in), one(kFunction, in), one(kTangentSolve, joined(solved, in))},
                  std::move(guess), std::move(rest));
  return {out, Flags(out.size(), true)};
}

Work cost(const Op& op) { return cost_of(op.region(kSolve)); }

}  // namespace

Values custom_root(Builder& b, RootProblem problem, Values guess, Values params) {
  const auto count = static_cast<std::int64_t>(guess.size());
  std::vector<BlockPtr> regions;
  regions.push_back(std::move(problem.solve));
  regions.push_back(std::move(problem.f));
  regions.push_back(std::move(problem.tangent_solve));
  return b
      .create(custom_root_def().info, joined(std::move(guess), params), {{"count", count}},
              std::move(regions))
      .results();
}

const OpDef& custom_root_def() {
  static const OpDef def{
      .info = {.name = "strata.custom_root", .infer = infer, .isolated = true},
      .summary =
          "a root found by a function of the user's, with the derivatives of a root "
          "(jax.lax.custom_root)",
      .traits = {},
      .evaluate = evaluate,
      .jvp = jvp_rule,
      .linearize = None{"sorted from its jvp"},
      .transpose = no_transpose,
      .batch = batch_rule,
      .shard = None{"sharding passes along the edges of the regions, not through factors"},
      .cost = cost,
      .lowering = Structured{Structured::Kind::call},
      .decompose = call_first_region,
  };
  return def;
}

}  // namespace strata::op
