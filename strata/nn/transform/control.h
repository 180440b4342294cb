// Branches, loops and rematerialisation of functions of modules.
//
//   Array y = nn::cond(train, [](Model& m, const Array& x) { return m(x); },
//                      [](Model& m, const Array& x) { return x; }, model, x);
//   auto block = nn::remat([](Block& b, const Array& x) { return b(x); }, {.policy = "dots"});
//
// State that a branch changes is the result of all branches: where another one is taken it stays as
// it was. `while_loop` and `fori_loop` carry modules like any tree: bodies return them. Source:
// Flax NNX's cond, switch, remat in tree mode.
#pragma once

#include "strata/api/transform/control.h"
#include "strata/api/transform/custom.h"
#include "strata/api/transform/jit.h"
#include "strata/nn/transform/callee.h"

namespace strata::nn {

namespace detail {
std::vector<Array> branch(const char* name, const Array& index, std::span<Callee* const> branches);
std::vector<Array> remat(Callee& callee, const RematOptions& options);
}  // namespace detail

/// branches[index](operands...); an index out of range is clamped. Throws Error where branches
/// return trees of other types, or change state to other types.
template <class F, class... Operands>
auto switch_(const Operand& index, std::vector<F> branches, Operands&&... operands) {
  strata::internal::Site site(index);
  if (branches.empty()) strata::internal::fail("switch_", "needs at least one branch");
  using C = detail::TypedCallee<F, std::remove_reference_t<Operands>...>;
  std::vector<std::unique_ptr<C>> callees;
  std::vector<detail::Callee*> all;
  for (F& f : branches) {
    callees.push_back(std::make_unique<C>(f, operands...));
    all.push_back(callees.back().get());
  }
  const std::vector<Array> results = detail::branch("switch_", index, all);
  return detail::given_back(callees[0]->result(results));
}

/// predicate ? on_true(operands...) : on_false(operands...), of which only one is run.
template <class OnTrue, class OnFalse, class... Operands>
auto cond(const Operand& predicate, OnTrue on_true, OnFalse on_false, Operands&&... operands) {
  strata::internal::Site site(predicate);
  strata::internal::check_predicate("cond", predicate->type());
  detail::TypedCallee<OnFalse, std::remove_reference_t<Operands>...> no(on_false, operands...);
  detail::TypedCallee<OnTrue, std::remove_reference_t<Operands>...> yes(on_true, operands...);
  detail::Callee* branches[] = {&no, &yes};
  const std::vector<Array> results = detail::branch("cond", predicate->astype(bool_), branches);
  return detail::given_back(yes.result(results));
}

/// f, of which reverse-mode differentiation keeps only what the policy names. Changes of state
/// happen once.
template <class F>
auto remat(F f, RematOptions options = {}) {
  return [f = std::move(f), options = std::move(options)]<class... Args>(Args&&... args) mutable {
    detail::TypedCallee<F, std::remove_reference_t<Args>...> callee(f, args...);
    const std::vector<Array> results = detail::remat(callee, options);
    return detail::given_back(callee.result(results));
  };
}

/// Functions of modules with derivatives of their own: modules go in by value, and what a rule says
/// of a module's derivative is a module, too. State that such a function changes is not written
/// back.
using strata::custom_vjp;
using strata::eval_shape;
using strata::fori_loop;
using strata::while_loop;

}  // namespace strata::nn
