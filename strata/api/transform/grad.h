// Derivatives of functions on trees.
//
//   auto [loss, grads] = value_and_grad(f)(params, x, y);       // with respect to argument 0
//   auto [gw, gb] = grad<0, 1>(f)(w, b);
//   auto [[loss, aux], grads] = value_and_grad(g, has_aux)(params);   // g returns pair{loss, aux};
//   or {.has_aux = true}; where neither is given, the result's type decides
//   auto [y, dy] = jvp(f, std::tuple{x}, std::tuple{dx});
//   auto [y, pullback] = vjp(f, x);  auto [gx] = pullback(gy);
//   auto [y, push] = linearize(f, x);  auto dy = push(dx);
//   auto [y, pullback, aux] = vjp(g, x, has_aux);               // so jvp and linearize: the last
//   argument stands for upstream's has_aux=True
// Whole matrices of derivatives: jacobian.h.
//
// They compose with each other and with every other transform in any order. Derivatives with
// respect to integer and boolean leaves do not exist: grad refuses them; elsewhere their tangents
// are ignored and cotangents are zeros. Complex numbers follow upstream: vjp and linearize take
// transposes without conjugation, so that grad of a real function at z = x + iy is df/dx - i df/dy,
// and grad of a holomorphic one, under `{.holomorphic = true}`, its derivative.
#pragma once

#include <algorithm>
#include <memory>

#include "strata/api/trace/function.h"

namespace strata {

/// Says that a function returns pair{result, aux} (or a tuple of two), of which only the result is
/// differentiated.
struct HasAux {
  explicit HasAux() = default;
};
/// Stands as the last argument of jvp, vjp and linearize for upstream's has_aux=True.
inline constexpr HasAux has_aux = HasAux();

/// Options of `grad`, `value_and_grad` and `jacrev`.
struct GradOptions {
  internal::Named named = internal::Named();
  /// Whether the function returns pair{loss, aux}. Left out, its result's type says it; said, Error
  /// where it is otherwise, when the derivative is called. (`has_aux` as an argument says the same
  /// to the compiler.)
  std::optional<bool> has_aux = std::nullopt;
  /// The function is promised to be holomorphic: arguments and results must be complex, and the
  /// derivative is that of complex analysis.
  bool holomorphic = false;
  /// Arguments of integers and booleans are taken; their derivatives are zeros of their type
  /// (upstream's grad has a dtype for that, float0).
  bool allow_int = false;
};

namespace internal {

/// Values of the results, then derivatives of result 0 (a scalar) along the arguments with
/// `active`.
std::vector<Array> value_and_grad(const Program& program, std::span<const Array> arguments,
                                  const std::vector<bool>& active);
/// What is asked for, as far as it decides about dtypes.
struct Differentiation {
  const char* operation;
  bool forward = false, holomorphic = false, allow_int = false;
};
/// Throws Error in the name of the operation where one of the active leaves has no such derivative.
void check_arguments(const Differentiation& asked, std::span<const Array> leaves,
                     const std::vector<bool>& active, const std::vector<std::string>& paths);
/// The same of a result, and of one that must be a number.
void check_result(const Differentiation& asked, const Type& result);
void check_loss(const Differentiation& asked, const Type& result);
/// Throws Error where has_aux was said and is not so.
void check_aux(const std::optional<bool>& said, bool has_aux);
/// Results, then the tangents of the first `differentiated` of them.
std::vector<Array> jvp(const Program& program, std::span<const Array> arguments,
                       std::span<const Array> tangents, std::size_t differentiated);

/// The derivative at a point: a graph from tangents to tangents and the residuals it needs.
struct Linear {
  std::shared_ptr<const ir::Block>
      block;  // (tangents of active arguments..., residuals...) -> tangents of active results
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
/// All results, and the derivative of the first `differentiated` of them.
LinearizedProgram linearize(const Program& program, std::span<const Array> arguments,
                            std::size_t differentiated);

template <class R>
inline constexpr bool is_loss_with_aux = false;
template <class Aux>
inline constexpr bool is_loss_with_aux<std::pair<Array, Aux>> = true;
template <class Aux>
inline constexpr bool is_loss_with_aux<std::tuple<Array, Aux>> = true;

/// The part of a function's result that is differentiated, and how many arrays it has.
template <bool kAux, class R>
const auto& differentiated(const R& result) {
  if constexpr (kAux) {
    static_assert(
        requires {
          requires std::tuple_size_v<R> == 2;
          std::get<0>(result);
        }, "a function with has_aux returns pair{result, aux}");
    return std::get<0>(result);
  } else {
    return result;
  }
}
template <bool kAux, class R>
std::size_t count_differentiated(const R& result) {
  return tree::leaves<Array>(differentiated<kAux>(result)).size();
}

/// A function's value and its derivative, and with kAux what it returns besides.
template <bool kAux, class R, class D>
auto with_derivative(R value, D derivative) {
  if constexpr (kAux)
    return std::tuple(std::get<0>(std::move(value)), std::move(derivative),
                      std::get<1>(std::move(value)));
  else
    return std::pair(std::move(value), std::move(derivative));
}

template <class... Args>
inline constexpr bool ends_in_aux = false;
template <class First, class... Args>
inline constexpr bool ends_in_aux<First, Args...> =
    std::same_as<std::tuple_element_t<sizeof...(Args), std::tuple<First, Args...>>, HasAux>;

/// Calls f with all arguments but the last.
template <class F, class... Args>
auto but_last(F f, const Args&... args) {
  const auto all = std::tie(args...);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return f(std::get<I>(all)...);
  }(std::make_index_sequence<sizeof...(Args) - 1>());
}

/// One tree for one argument number, a tuple of trees for several.
template <class Tuple, std::size_t... N>
auto chosen(const Tuple& arguments) {
  if constexpr (sizeof...(N) == 1)
    return std::get<N...>(arguments);
  else
    return std::tuple(std::get<N>(arguments)...);
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

template <class F, bool kAux, std::size_t... N>
class [[nodiscard]] ValueAndGrad {
 public:
  explicit ValueAndGrad(F f, const GradOptions& options, const Where& where)
      : f_(std::move(f)),
        asked_{"grad", false, options.holomorphic, options.allow_int},
        has_aux_(options.has_aux),
        where_(where) {}
  template <class... Args>
  [[nodiscard]] auto operator()(Args&&... args) const {
    if constexpr (accepts<const F, Args...>()) {
      using R = Result<const F, ArgumentTuple<const F, Args...>>;
      constexpr bool loss = std::same_as<R, Array> || is_loss_with_aux<R>;
      static_assert(loss, "grad needs a function that returns an Array, or pair{Array, aux}");
      constexpr bool in_range = ((N < sizeof...(Args)) && ...);
      static_assert(in_range, "argument number out of range");
      if constexpr (loss && in_range) return derive(std::forward<Args>(args)...);
    }
  }

 private:
  template <class... Args>
  auto derive(Args&&... args) const {
    using Tuple = ArgumentTuple<const F, Args...>;
    using R = Result<const F, Tuple>;
    static_assert(!kAux || is_loss_with_aux<R>, "a function with has_aux returns pair{loss, aux}");
    Site site(where_);
    check_aux(has_aux_, is_loss_with_aux<R>);
    const Tuple arguments(std::forward<Args>(args)...);
    const std::vector<Array> leaves = tree::leaves<Array>(arguments);
    const std::vector<bool> active = active_leaves<N...>(arguments);
    check_arguments(asked_, leaves, active, argument_paths(arguments));
    auto traced = trace_function(f_, arguments, Trace::Kind::nested);
    check_loss(asked_, traced.program.block->results[0]->type());
    const std::vector<Array> out = value_and_grad(traced.program, leaves, active);
    const std::size_t results = traced.program.block->results.size();
    std::vector<Array> of_chosen;  // `out` has those of active leaves in the order of the arguments
    for (std::size_t leaf : chosen_leaves<N...>(arguments))
      of_chosen.push_back(
          out[results +
              static_cast<std::size_t>(std::count(
                  active.begin(), active.begin() + static_cast<std::ptrdiff_t>(leaf), true))]);
    return std::pair(traced.unflatten(part(out, 0, results)),
                     grads(chosen<Tuple, N...>(arguments), of_chosen));
  }

  template <class T>
  static T grads(T like, std::span<const Array> leaves) {
    return tree::unflatten<Array>(std::move(like), leaves);
  }
  F f_;
  Differentiation asked_;
  std::optional<bool> has_aux_;
  Where where_;
};

template <class F, bool kAux, std::size_t... N>
class [[nodiscard]] Grad {
 public:
  explicit Grad(F f, const GradOptions& options, const Where& where)
      : f_(std::move(f), options, where) {}
  template <class... Args>
  [[nodiscard]] auto operator()(Args&&... args) const {
    using Both = decltype(f_(std::forward<Args>(args)...));
    if constexpr (!std::is_void_v<Both>) {  // else it has said why not
      auto [value, grads] = f_(std::forward<Args>(args)...);
      if constexpr (std::same_as<decltype(value), Array>)
        return grads;
      else
        return std::pair(std::move(grads), std::get<1>(value));
    }
  }

 private:
  ValueAndGrad<F, kAux, N...> f_;
};

/// One of the two, by argument 0 unless numbers are given.
template <template <class, bool, std::size_t...> class Derivative, bool kAux, std::size_t... N,
          class F>
auto make_grad(F f, const GradOptions& options, const Where& where) {
  if constexpr (sizeof...(N) == 0)
    return Derivative<F, kAux, 0>(std::move(f), options, where);
  else
    return Derivative<F, kAux, N...>(std::move(f), options, where);
}

template <bool kAux, class F, class... Args>
auto jvp_of(F& f, const std::tuple<Args...>& primals, const std::tuple<Args...>& tangents) {
  auto traced = trace_function(f, primals, Trace::Kind::nested);
  const std::size_t results = traced.program.block->results.size(),
                    some = count_differentiated<kAux>(traced.like);
  const std::vector<Array> out = internal::jvp(traced.program, tree::leaves<Array>(primals),
                                               tree::leaves<Array>(tangents), some);
  auto tangent =
      tree::unflatten<Array>(differentiated<kAux>(traced.like), part(out, results, some));
  return with_derivative<kAux>(traced.unflatten(part(out, 0, results)), std::move(tangent));
}

template <bool kAux, class F, class... Args>
auto vjp_of(F& f, const std::tuple<Args...>& arguments) {
  auto traced = trace_function(f, arguments, Trace::Kind::nested);
  auto [results, linear] = internal::linearize(traced.program, tree::leaves<Array>(arguments),
                                               count_differentiated<kAux>(traced.like));
  auto value = traced.unflatten(results);
  using Y = std::remove_cvref_t<decltype(differentiated<kAux>(value))>;
  auto pullback = [derivative = std::move(linear), arguments](const Y& cotangents) {
    return tree::unflatten<Array>(arguments, derivative.pull(tree::leaves<Array>(cotangents)));
  };
  return with_derivative<kAux>(std::move(value), std::move(pullback));
}

template <bool kAux, class F, class... Args>
auto linearize_of(F& f, const std::tuple<Args...>& arguments) {
  auto traced = trace_function(f, arguments, Trace::Kind::nested);
  auto [results, linear] = internal::linearize(traced.program, tree::leaves<Array>(arguments),
                                               count_differentiated<kAux>(traced.like));
  auto value = traced.unflatten(results);
  auto push = [derivative = std::move(linear), like = differentiated<kAux>(value)](
                  const std::tuple_element_t<0, std::tuple<Args...>>& first, const auto&... more) {
    return tree::unflatten<Array>(like,
                                  derivative.push(tree::leaves<Array>(std::tie(first, more...))));
  };
  return with_derivative<kAux>(std::move(value), std::move(push));
}

}  // namespace internal

/// `value_and_grad<N...>(f)(args...)` is `pair{f(args...), derivatives by the arguments N...}`
/// (argument 0 unless given). f returns a number, or pair{that, aux}. Throws Error where an
/// argument is no float or complex number (options say more), or the result no float scalar.
template <std::size_t... N, class F>
auto value_and_grad(F f, GradOptions options = {}, Where where = Where::current()) {
  return internal::make_grad<internal::ValueAndGrad, false, N...>(std::move(f), options, where);
}
/// The same of an f that returns pair{loss, aux}: `pair{pair{loss, aux}, derivatives}`. Another one
/// does not compile.
template <std::size_t... N, class F>
auto value_and_grad(F f, HasAux, GradOptions options = {}, Where where = Where::current()) {
  return internal::make_grad<internal::ValueAndGrad, true, N...>(std::move(f), options, where);
}
/// The derivatives alone; with aux `pair{derivatives, aux}`.
template <std::size_t... N, class F>
auto grad(F f, GradOptions options = {}, Where where = Where::current()) {
  return internal::make_grad<internal::Grad, false, N...>(std::move(f), options, where);
}
template <std::size_t... N, class F>
auto grad(F f, HasAux, GradOptions options = {}, Where where = Where::current()) {
  return internal::make_grad<internal::Grad, true, N...>(std::move(f), options, where);
}

/// The value of f at `primals` and its derivative along `tangents` (two tuples of equal structure).
template <class F, class... Args>
[[nodiscard]] auto jvp(F f, const std::tuple<Args...>& primals, const std::tuple<Args...>& tangents,
                       Where where = Where::current()) {
  internal::Site site(where);
  return internal::jvp_of<false>(f, primals, tangents);
}
/// `jvp` of an f that returns pair{y, aux}: tuple{y, the tangent of y, aux}.
template <class F, class... Args>
[[nodiscard]] auto jvp(F f, const std::tuple<Args...>& primals, const std::tuple<Args...>& tangents,
                       HasAux, Where where = Where::current()) {
  internal::Site site(where);
  return internal::jvp_of<true>(f, primals, tangents);
}

/// The value of f and the function from cotangents of its result to a tuple of cotangents of its
/// arguments. `vjp(f, args..., has_aux)`, of an f that returns pair{y, aux}: tuple{y, that function
/// of y's cotangents, aux}.
template <class F, class... Args>
[[nodiscard]] auto vjp(F f, const Args&... args) {
  if constexpr (internal::ends_in_aux<Args...>) {
    auto with_aux = [&]<class... A>(const A&... a) {
      return internal::vjp_of<true>(f, internal::ArgumentTuple<F, A...>(a...));
    };
    return internal::but_last(with_aux, args...);
  } else {
    return internal::vjp_of<false>(f, internal::ArgumentTuple<F, Args...>(args...));
  }
}

/// The value of f and its derivative there as a function of tangents. `linearize(f, args...,
/// has_aux)`, of an f that returns pair{y, aux}: tuple{y, the derivative of y, aux}.
template <class F, class... Args>
[[nodiscard]] auto linearize(F f, const Args&... args) {
  if constexpr (internal::ends_in_aux<Args...>) {
    auto with_aux = [&]<class... A>(const A&... a) {
      return internal::linearize_of<true>(f, internal::ArgumentTuple<F, A...>(a...));
    };
    return internal::but_last(with_aux, args...);
  } else {
    return internal::linearize_of<false>(f, internal::ArgumentTuple<F, Args...>(args...));
  }
}

}  // namespace strata
