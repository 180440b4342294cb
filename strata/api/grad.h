// Derivatives of functions on trees.
//
//   auto [loss, grads] = value_and_grad(f)(params, x, y);       // with respect to argument 0
//   auto [gw, gb] = grad<0, 1>(f)(w, b);
//   auto [[loss, aux], grads] = value_and_grad(g)(params);      // g returns pair{loss, aux}
//   auto [y, dy] = jvp(f, std::tuple{x}, std::tuple{dx});
//   auto [y, pullback] = vjp(f, x);  auto [gx] = pullback(gy);
//   auto [y, push] = linearize(f, x);  auto dy = push(dx);
// Whole matrices of derivatives: jacobian.h.
//
// They compose with each other and with every other transform in any order. Derivatives with respect to integer and
// boolean leaves do not exist: grad refuses them; elsewhere their tangents are ignored and cotangents are zeros.
#pragma once

#include <algorithm>
#include <memory>

#include "strata/api/function.h"

namespace strata {

namespace internal {

/// Values of the results, then derivatives of result 0 (a scalar) along the arguments with `active`.
std::vector<Array> value_and_grad(const Program& program, std::span<const Array> arguments, const std::vector<bool>& active);
void check_grad(const Program& program, std::span<const Array> arguments, const std::vector<bool>& active, const std::vector<std::string>& paths);
/// Results, then their tangents.
std::vector<Array> jvp(const Program& program, std::span<const Array> arguments, std::span<const Array> tangents);

/// The derivative at a point: a graph from tangents to tangents and the residuals it needs.
struct Linear {
  std::shared_ptr<const ir::Block> block;  // (tangents of active arguments..., residuals...) -> tangents of active results
  std::vector<Array> residuals;
  std::vector<bool> active_arguments, active_results;
  std::vector<Type> argument_types, result_types;
  std::vector<Array> push(std::span<const Array> tangents) const;
  std::vector<Array> pull(std::span<const Array> cotangents) const;
};
struct LinearizedProgram {
  std::vector<Array> results;
  Linear linear;
};
LinearizedProgram linearize(const Program& program, std::span<const Array> arguments);

template <class R> inline constexpr bool has_aux = false;
template <class Aux> inline constexpr bool has_aux<std::pair<Array, Aux>> = true;
template <class Aux> inline constexpr bool has_aux<std::tuple<Array, Aux>> = true;

/// One tree for one argument number, a tuple of trees for several.
template <class Tuple, std::size_t... N>
auto chosen(const Tuple& arguments) {
  if constexpr (sizeof...(N) == 1) return std::get<N...>(arguments);
  else return std::tuple(std::get<N>(arguments)...);
}

/// Which leaves of the argument list belong to the chosen arguments.
template <std::size_t... N, class... Args>
std::vector<bool> active_leaves(const std::tuple<Args...>& arguments) {
  std::vector<bool> out;
  std::size_t number = 0;
  auto one = [&](const auto& argument) {
    const bool active = ((number == N) || ...);
    tree::for_each(argument, [&](const Array&) { out.push_back(active); });
    ++number;
  };
  std::apply([&](const auto&... each) { (one(each), ...); }, arguments);
  return out;
}

/// The numbers of the leaves of the chosen arguments, in the order in which these are chosen.
template <std::size_t... N, class... Args>
std::vector<std::size_t> chosen_leaves(const std::tuple<Args...>& arguments) {
  std::vector<std::vector<std::size_t>> of;
  std::size_t next = 0;
  auto one = [&](const auto& argument) {
    of.emplace_back();
    tree::for_each(argument, [&](const Array&) { of.back().push_back(next++); });
  };
  std::apply([&](const auto&... each) { (one(each), ...); }, arguments);
  std::vector<std::size_t> out;
  (out.insert(out.end(), of[N].begin(), of[N].end()), ...);
  return out;
}

template <class F, std::size_t... N>
class ValueAndGrad {
 public:
  explicit ValueAndGrad(F f) : f_(std::move(f)) {}
  template <class... Args>
  auto operator()(Args&&... args) const {
    using Tuple = ArgumentTuple<const F, Args...>;
    using R = Result<const F, Tuple>;
    static_assert(std::same_as<R, Array> || has_aux<R>, "grad needs a function that returns an Array, or pair{Array, aux}");
    static_assert(((N < sizeof...(Args)) && ...), "argument number out of range");
    const Tuple arguments(std::forward<Args>(args)...);
    const std::vector<Array> leaves = tree::leaves<Array>(arguments);
    const std::vector<bool> active = active_leaves<N...>(arguments);
    auto traced = trace_function(f_, arguments, Trace::Kind::nested);
    check_grad(traced.program, leaves, active, argument_paths(arguments));
    const std::vector<Array> out = value_and_grad(traced.program, leaves, active);
    const std::size_t results = traced.program.block->results.size();
    std::vector<Array> of_chosen;  // `out` has those of active leaves in the order of the arguments
    for (std::size_t leaf : chosen_leaves<N...>(arguments))
      of_chosen.push_back(out[results + static_cast<std::size_t>(std::count(active.begin(), active.begin() + static_cast<std::ptrdiff_t>(leaf), true))]);
    return std::pair(traced.unflatten(part(out, 0, results)), grads(chosen<Tuple, N...>(arguments), of_chosen));
  }

 private:
  template <class T> static T grads(T like, std::span<const Array> leaves) { return tree::unflatten<Array>(std::move(like), leaves); }
  F f_;
};

template <class F, std::size_t... N>
class Grad {
 public:
  explicit Grad(F f) : f_(std::move(f)) {}
  template <class... Args>
  auto operator()(Args&&... args) const {
    auto [value, grads] = f_(std::forward<Args>(args)...);
    if constexpr (std::same_as<decltype(value), Array>) return grads;
    else return std::pair(std::move(grads), std::get<1>(value));
  }

 private:
  ValueAndGrad<F, N...> f_;
};

}  // namespace internal

/// `value_and_grad<N...>(f)(args...)` is `pair{f(args...), derivatives by the arguments N...}` (argument 0 unless given).
template <std::size_t... N, class F>
auto value_and_grad(F f) {
  if constexpr (sizeof...(N) == 0) return internal::ValueAndGrad<F, 0>(std::move(f));
  else return internal::ValueAndGrad<F, N...>(std::move(f));
}
/// The derivatives alone; with aux `pair{derivatives, aux}`.
template <std::size_t... N, class F>
auto grad(F f) {
  if constexpr (sizeof...(N) == 0) return internal::Grad<F, 0>(std::move(f));
  else return internal::Grad<F, N...>(std::move(f));
}

/// The value of f at `primals` and its derivative along `tangents` (two tuples of equal structure).
template <class F, class... Args>
auto jvp(F f, const std::tuple<Args...>& primals, const std::tuple<Args...>& tangents) {
  auto traced = internal::trace_function(f, primals, internal::Trace::Kind::nested);
  const std::vector<Array> out = internal::jvp(traced.program, tree::leaves<Array>(primals), tree::leaves<Array>(tangents));
  const std::size_t n = out.size() / 2;
  return std::pair(traced.unflatten(internal::part(out, 0, n)), traced.unflatten(internal::part(out, n, n)));
}

/// The value of f and the function from cotangents of its result to a tuple of cotangents of its arguments.
template <class F, class... Args>
auto vjp(F f, const Args&... args) {
  using Tuple = internal::ArgumentTuple<F, Args...>;
  const Tuple arguments(args...);
  auto traced = internal::trace_function(f, arguments, internal::Trace::Kind::nested);
  auto [results, linear] = internal::linearize(traced.program, tree::leaves<Array>(arguments));
  auto value = traced.unflatten(results);
  auto pullback = [linear = std::move(linear), arguments](const decltype(value)& cotangents) {
    return tree::unflatten<Array>(arguments, linear.pull(tree::leaves<Array>(cotangents)));
  };
  return std::pair(std::move(value), std::move(pullback));
}

/// The value of f and its derivative there as a function of tangents.
template <class F, class... Args>
auto linearize(F f, const Args&... args) {
  using Tuple = internal::ArgumentTuple<F, Args...>;
  const Tuple arguments(args...);
  auto traced = internal::trace_function(f, arguments, internal::Trace::Kind::nested);
  auto [results, linear] = internal::linearize(traced.program, tree::leaves<Array>(arguments));
  auto value = traced.unflatten(results);
  auto push = [linear = std::move(linear), like = value](const std::tuple_element_t<0, Tuple>& first, const auto&... more) {
    return tree::unflatten<Array>(like, linear.push(tree::leaves<Array>(std::tie(first, more...))));
  };
  return std::pair(std::move(value), std::move(push));
}

}  // namespace strata
