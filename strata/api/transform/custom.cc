#include "strata/api/transform/custom.h"

#include "strata/api/trace/compose.h"
#include "strata/api/trace/shared_operands.h"
#include "strata/op/control.h"

namespace strata {
namespace internal {

void check_jvp_rule(const Program& primal, const Program& rule) {
  std::vector<Type> expected = primal.block->result_types();
  const std::vector<Type> once = expected;
  expected.insert(expected.end(), once.begin(), once.end());
  if (rule.block->result_types() != expected)
    fail("custom_jvp", "the rule returns {}, expected results and tangents {}",
         list_types(rule.block->result_types()), list_types(expected));
}

std::vector<Array> custom_jvp(const Program& primal, const Program& rule,
                              std::span<const Array> arguments) {
  const SharedOperands shared(arguments, {&primal, &rule});
  // The rule's block has a tangent for each operand, captured ones (which it ignores) included.
  auto block = std::make_unique<ir::Block>();
  add_arguments(*block, shared.operands);
  add_arguments(*block, shared.operands);
  Builder inner(*block);
  const Values v = block->argument_values();
  const std::span<Value* const> primals = std::span(v).first(shared.arguments),
                                tangents =
                                    std::span(v).subspan(shared.operands.size(), shared.arguments);
  block->results = ir::inline_block(
      inner, *rule.block, join_values(join_values(primals, tangents), shared.captured(v, 1, rule)));
  return emit(
      shared.operands,
      [&](Builder& b, const Values& values) {
        return op::custom_jvp(b, shared.block(0, primal), std::move(block), values);
      },
      primal.weak);
}

void check_vjp_rules(const Program& primal, const Program& forward, const Program& backward,
                     std::span<const Array> arguments) {
  const std::vector<Type> results = primal.block->result_types(),
                          ahead = forward.block->result_types();
  if (ahead.size() < results.size() || !std::equal(results.begin(), results.end(), ahead.begin()))
    fail("custom_vjp", "the forward rule returns {}, expected the function's {} and residuals",
         list_types(ahead), list_types(results));
  const std::vector<Type> back = backward.block->result_types();
  bool fits = back.size() == arguments.size();
  for (std::size_t i = 0; fits && i < back.size(); ++i)
    fits = back[i].shape() == arguments[i].shape();
  std::vector<Type> expected;
  for (const Array& a : arguments) expected.push_back(a.type());
  if (!fits)
    fail("custom_vjp", "the backward rule returns {}, expected cotangents of the arguments {}",
         list_types(back), list_types(expected));
}

std::vector<Array> custom_vjp(const Program& primal, const Program& forward,
                              const Program& backward, std::span<const Array> arguments) {
  const SharedOperands shared(arguments, {&primal, &forward, &backward});
  const std::size_t results = primal.block->results.size(),
                    residuals = forward.block->results.size() - results;
  // What the backward rule captured travels with the residuals.
  op::BlockPtr ahead = shared.block(1, forward);
  const Values shared_values = ahead->argument_values();
  for (Value* v : shared.captured(shared_values, 2, backward)) ahead->results.push_back(v);

  auto back = std::make_unique<ir::Block>();
  for (std::size_t i = 0; i < residuals; ++i)
    back->add_argument(forward.block->results[results + i]->type());
  add_arguments(*back, backward.captured);
  for (std::size_t i = 0; i < results; ++i) back->add_argument(primal.block->results[i]->type());
  Builder inner(*back);
  const Values v = back->argument_values();
  const std::size_t captured = backward.captured.size();
  Values in = join_values(std::span(v).first(residuals),
                          std::span(v).subspan(residuals + captured, results));
  const Values all = ir::inline_block(inner, *backward.block,
                                      join_values(in, std::span(v).subspan(residuals, captured)));
  ir::Ints differentiable;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (is_inexact(arguments[i].dtype())) {
      differentiable.push_back(static_cast<std::int64_t>(i));
      back->results.push_back(op::convert(inner, all[i], arguments[i].dtype()));
    }
  return emit(
      shared.operands,
      [&](Builder& b, const Values& values) {
        return op::custom_vjp(b, shared.block(0, primal), std::move(ahead), std::move(back), values,
                              differentiable);
      },
      primal.weak);
}

std::vector<Array> remat(const Program& program, std::span<const Array> arguments,
                         const std::string& policy) {
  const bool known = policy == "nothing" || policy == "everything" || policy == "dots" ||
                     policy == "dots_no_batch" || policy.rfind("names:", 0) == 0;
  if (!known)
    fail("remat", "policy is nothing, everything, dots, dots_no_batch or names:a,b, got \"{}\"",
         policy);
  const std::vector<Array> operands =
      joined(std::vector<Array>(arguments.begin(), arguments.end()), program.captured);
  return emit(
      operands,
      [&](Builder& b, const Values& v) {
        return op::remat(b, ir::clone(*program.block), v, policy);
      },
      program.weak);
}

}  // namespace internal

Array checkpoint_name(const Operand& x, const std::string& name) {
  internal::Site site(x);
  return internal::emit_one(
      {x}, x->weak(), [&](ir::Builder& b, const ir::Values& v) { return op::name(b, v[0], name); });
}

}  // namespace strata
