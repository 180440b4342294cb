// Derivatives of functions of modules.
//
//   auto [loss, grads] = nn::value_and_grad(loss_of)(model, batch);       // by the Params of
//   argument 0 auto [loss, grads] = nn::value_and_grad(f, nn::of<nn::LoRAParam>())(model, batch);
//   auto [[loss, aux], grads] = nn::value_and_grad(g)(model, batch);      // g returns pair{loss,
//   aux}
//
// The gradients are a tree::Tree of the leaves that the filter takes, by their paths in the
// argument: what an optimizer takes; `tree::as(model, grads)` puts them into a model. State that
// the function changes (statistics, counts of random numbers) is written back, without derivatives.
//
// Source: Flax NNX's grad in tree mode. Deviation: upstream differentiates by the whole argument;
// here a filter says by what, since a model holds integers and keys, too.
#pragma once

#include "strata/api/transform/grad.h"
#include "strata/nn/transform/callee.h"

namespace strata::nn {

struct GradOptions {
  internal::Named named = internal::Named();
  /// Of which argument.
  std::size_t argnum = 0;
  /// As strata::GradOptions.
  bool holomorphic = false, allow_int = false;
};

namespace detail {
struct ValueAndGrads {
  std::vector<Array> results;
  tree::Tree grads;
};
ValueAndGrads value_and_grad(Callee& callee, const tree::Filter& wrt, const GradOptions& options);
/// Results and a function from cotangents of the results to those of all arguments' leaves.
struct Pullback {
  std::vector<Array> results;
  strata::internal::Linear linear;
};
Pullback vjp(Callee& callee);
/// Results, then their tangents; tangents of changed state are dropped.
std::vector<Array> jvp(Callee& callee, std::span<const Array> tangents);
}  // namespace detail

/// `value_and_grad(f, wrt)(args...)` is `pair{f(args...), gradients}`. f returns a number, or
/// pair{that, aux}. Throws Error where the filter takes nothing, and, with the path, where it takes
/// a leaf that has no derivative.
template <class F>
auto value_and_grad(F f, tree::Filter wrt = of<Param>(), GradOptions options = {}) {
  return [f = std::move(f), wrt = std::move(wrt), options]<class... Args>(Args&&... args) mutable {
    detail::TypedCallee<F, std::remove_reference_t<Args>...> callee(f, args...);
    using R = typename decltype(callee)::R;
    static_assert(std::same_as<R, Array> || strata::internal::is_loss_with_aux<R>,
                  "grad needs a function that returns an Array, or pair{Array, aux}");
    auto out = detail::value_and_grad(callee, wrt, options);
    return std::pair(callee.result(out.results), std::move(out.grads));
  };
}
/// The gradients alone; with aux `pair{gradients, aux}`.
template <class F>
auto grad(F f, tree::Filter wrt = of<Param>(), GradOptions options = {}) {
  return [both = value_and_grad(std::move(f), std::move(wrt), options)]<class... Args>(
             Args&&... args) mutable {
    auto [value, grads] = both(std::forward<Args>(args)...);
    if constexpr (std::same_as<decltype(value), Array>)
      return grads;
    else
      return std::pair(std::move(grads), std::get<1>(value));
  };
}

/// f(args...) and the function from cotangents of its result to a tuple of cotangents of its
/// arguments.
template <class F, class... Args>
auto vjp(F f, Args&&... args) {
  detail::TypedCallee<F, std::remove_reference_t<Args>...> callee(f, args...);
  using R = typename decltype(callee)::R;
  auto back = detail::vjp(callee);
  std::tuple<detail::AsOperand<Args>...> arguments(args...);
  auto pullback = [linear = std::move(back.linear), arguments](const R& cotangents) {
    return tree::unflatten<Array>(arguments, linear.pull(tree::leaves<Array>(cotangents)));
  };
  return std::pair(callee.result(back.results), std::move(pullback));
}

/// f(primals...) and its derivative along the tangents, a tuple of trees like the primals.
template <class F, class... Args>
auto jvp(F f, std::tuple<Args...> primals,
         const std::tuple<std::remove_cvref_t<Args>...>& tangents) {
  return std::apply(
      [&](auto&... each) {
        detail::TypedCallee<F, std::remove_reference_t<Args>...> callee(f, each...);
        const std::vector<Array> out = detail::jvp(callee, tree::leaves<Array>(tangents));
        const std::span<const Array> all(out);
        return std::pair(callee.result(all.subspan(0, out.size() / 2)),
                         callee.result(all.subspan(out.size() / 2)));
      },
      primals);
}

}  // namespace strata::nn
