// strata.custom_linear_solve: a linear system solved by a function of the user's, with the
// derivatives of a solution (jax.lax.custom_linear_solve).
//
// Operands: `count` right-hand sides b, then parameters p. Regions, of which each takes `count`
// values and then all parameters:
//   solve            (b..., p...) -> x..., more...     matvec   (x..., p...) -> b...
//   transpose_solve  (x..., p...) -> b..., more...     vecmat   (b..., p...) -> x...
// (C1) regions take and return those types, x as b; (C2) there are two regions or four; (C3)
// right-hand sides are floats or complex numbers.
//
// From A x = b: dx = A^-1 (db - dA x), solved in the same way. The transpose solves the transposed
// system, and needs four regions. Whether the regions are what they are called is not checked.
// Further results have no derivative.
#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/calculus/batch.h"
#include "strata/op/calculus/jvp.h"
#include "strata/op/calculus/support.h"
#include "strata/op/control/implicit.h"
#include "strata/op/rules.h"

namespace strata::op {

const OpDef& custom_linear_solve_def();
namespace {

using Flags = std::vector<bool>;
enum Region : int { kSolve, kMatvec, kTransposeSolve, kVecmat };

std::size_t count_of(const Op& op) {
  return static_cast<std::size_t>(op.attr<std::int64_t>("count"));
}

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const BlockPtr> regions) {
  const char* self = "custom_linear_solve";
  const std::int64_t count = expect_attr<std::int64_t>(self, attrs, "count");
  if (regions.size() != 2 && regions.size() != 4)
    throw Error(
        self,
        "needs solve and matvec, and both of the transposed system or none, got {} regions (C2)",
        regions.size());
  if (count < 0 || count > static_cast<std::int64_t>(operands.size()))
    throw Error(self, "{} right-hand sides of {} operands (C1)", count, operands.size());
  const std::vector<Type> in = types_of(operands), b = part(in, 0, static_cast<std::size_t>(count));
  for (const Type& t : b)
    if (!is_differentiable(t)) throw Error(self, "a right-hand side is {} (C3)", t.to_string());
  for (std::size_t r = 0; r < regions.size(); ++r) {
    const bool solves = r % 2 == 0;
    expect_types(self, "arguments of a region (C1)", types_of(regions[r]->argument_values()), in);
    std::vector<Type> out = regions[r]->result_types();
    if (solves && out.size() > b.size()) out.resize(b.size());
    expect_types(self, solves ? "results of a solve (C1)" : "results of a product (C1)", out, b);
  }
  return regions[kSolve]->result_types();
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  return evaluator.run(op.region(kSolve), operands);
}

LinearSystem system_of(const Op& op) {
  LinearSystem out{ir::clone(op.region(kSolve)), ir::clone(op.region(kMatvec)), nullptr, nullptr};
  if (op.regions.size() == 4)
    out.transpose_solve = ir::clone(op.region(kTransposeSolve)),
    out.vecmat = ir::clone(op.region(kVecmat));
  return out;
}

/// What the tangents of the parameters make of the product with x, null where nothing.
Values moved_product(Builder& b, const Op& op, Values x, const Values& params,
                     std::span<Value* const> tangents) {
  const std::size_t n = x.size();
  Values along(n, nullptr);
  along.insert(along.end(), tangents.begin() + static_cast<std::ptrdiff_t>(n), tangents.end());
  if (all_null(along)) return Values(n, nullptr);
  append(x, params);
  return jvp(b, op.region(kMatvec), x, along).tangents;
}

JvpResult jvp_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                   std::span<Value* const> tangents) {
  const std::size_t n = count_of(op);
  const Values all(operands.begin(), operands.end()), params = part(all, n, all.size() - n);
  JvpResult r{custom_linear_solve(b, system_of(op), part(all, 0, n), params),
              Values(static_cast<std::size_t>(op.num_results()), nullptr)};
  Values rhs(tangents.begin(), tangents.begin() + static_cast<std::ptrdiff_t>(n));
  const Values moved = moved_product(b, op, part(r.results, 0, n), params, tangents);
  for (std::size_t i = 0; i < n; ++i)
    if (moved[i]) rhs[i] = rhs[i] ? sub(b, rhs[i], moved[i]) : neg(b, moved[i]);
  if (all_null(rhs)) return r;
  for (std::size_t i = 0; i < n; ++i) rhs[i] = or_zeros(b, rhs[i], operands[i]->type());
  const Values dx = custom_linear_solve(b, system_of(op), rhs, params);
  std::copy_n(dx.begin(), n, r.tangents.begin());
  return r;
}

Values transpose_rule(Builder& b, const Op& op, std::span<Value* const> operands,
                      const Flags& linear, std::span<Value* const> cotangents) {
  const std::size_t n = count_of(op);
  Values out(operands.size(), nullptr), ct;
  for (std::size_t i = n; i < linear.size(); ++i)
    if (linear[i])
      throw Error("custom_linear_solve", "a system is linear in its right-hand sides alone");
  if (op.regions.size() != 4)
    throw Error("custom_linear_solve", "the reverse mode needs transpose_solve");
  for (std::size_t i = 0; i < n; ++i)
    ct.push_back(or_zeros(b, cotangents[i], op.result(static_cast<int>(i))->type()));
  LinearSystem s = system_of(op);
  std::swap(s.solve, s.transpose_solve);
  std::swap(s.matvec, s.vecmat);
  const Values all(operands.begin(), operands.end()),
      solved = custom_linear_solve(b, std::move(s), ct, part(all, n, all.size() - n));
  for (std::size_t i = 0; i < n; ++i)
    if (linear[i]) out[i] = solved[i];
  return out;
}

Batched batch_rule(Builder& b, const Op& op, std::span<Value* const> operands, const Flags& batched,
                   std::int64_t size) {
  const std::size_t n = count_of(op);
  Flags in = batched;
  std::fill_n(in.begin(), n, true);
  auto one = [&](const BlockPtr& region) {
    return region ? batch(*region, in, size, Flags(region->results.size(), true)).block : nullptr;
  };
  const LinearSystem s = system_of(op);
  Values rhs, params(operands.begin() + static_cast<std::ptrdiff_t>(n), operands.end());
  for (std::size_t i = 0; i < n; ++i)
    rhs.push_back(batched_operand(b, operands[i], batched[i], size));
  Values out =
      custom_linear_solve(b, {one(s.solve), one(s.matvec), one(s.transpose_solve), one(s.vecmat)},
                          std::move(rhs), std::move(params));
  return {out, Flags(out.size(), true)};
}

Work cost(const Op& op) { return cost_of(op.region(kSolve)); }

}  // namespace

Values custom_linear_solve(Builder& b, LinearSystem s, Values rhs, Values params) {
  const auto count = static_cast<std::int64_t>(rhs.size());
  std::vector<BlockPtr> regions;
  regions.push_back(std::move(s.solve));
  regions.push_back(std::move(s.matvec));
  if (s.transpose_solve) {
    regions.push_back(std::move(s.transpose_solve));
    regions.push_back(std::move(s.vecmat));
  }
  return b
      .create(custom_linear_solve_def().info, joined(std::move(rhs), params), {{"count", count}},
              std::move(regions))
      .results();
}

const OpDef& custom_linear_solve_def() {
  static const OpDef def{
      .info = {.name = "strata.custom_linear_solve", .infer = infer, .isolated = true},
      .summary =
          "a linear system solved by a function of the user's, with the derivatives of its "
          "solution (jax.lax.custom_linear_solve)",
      .traits = {},
      .evaluate = evaluate,
      .jvp = jvp_rule,
      .linearize = None{"sorted from its jvp"},
      .transpose = transpose_rule,
      .batch = batch_rule,
      .shard = None{"sharding passes along the edges of the regions, not through factors"},
      .cost = cost,
      .lowering = Structured{Structured::Kind::call},
      .decompose = call_first_region,
  };
  return def;
}

}  // namespace strata::op
