// All derivatives of a function's results by its arguments at once.
//
//   jacfwd(f)(x)   jacrev(f)(x)   hessian(f)(x)        // by argument 0: an array of the shape of y followed by that of x
//   auto [jx, jz] = jacrev<0, 2>(f)(x, y, z);          // by arguments 0 and 2
//   auto [[xx, xy], [yx, yy]] = hessian<0, 1>(f)(x, y);
//
// Numbers of arguments are upstream's argnums: one gives a tree like that argument, several a tuple of them. A result that is a tuple, pair, vector or
// std::array has such a tree in place of each of its arrays (a struct as a result only where that tree is one array). Arguments are trees of
// floats or complex numbers, others are an Error; other arguments may be anything.
#pragma once

#include "strata/api/grad.h"
#include "strata/api/vmap.h"

namespace strata {

namespace internal {

/// All unit arrays of x's type, stacked.
Array basis(const Array& x);
/// Derivatives with one axis for the elements of x or y, the last or the first, as an array of y's shape followed by x's.
Array arrange_columns(const Array& columns, const Array& x);
Array arrange_rows(const Array& rows, const Array& y);
Array zeros_of(const Array& x);
/// Throws Error in the name of `operation` where one of the active leaves has no derivative.
void check_active(const char* operation, std::span<const Array> leaves, const std::vector<bool>& active, const std::vector<std::string>& paths);

/// `like` with next() in place of each of its arrays, in order.
template <class T, class Next>
auto with_leaves(const T& like, Next& next) {
  if constexpr (std::same_as<T, Array>) return next();
  else if constexpr (requires { std::tuple_size<T>::value; like.size(); }) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return std::array{with_leaves(like[I], next)...}; }(std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    return std::apply([&](const auto&... each) { return std::tuple<decltype(with_leaves(each, next))...>{with_leaves(each, next)...}; }, like);
  } else {
    static_assert(requires(T list) { list.push_back(list[0]); },
                  "a function whose Jacobian has several arrays for each of its results returns an array, tuple, pair, vector or std::array");
    std::vector<decltype(with_leaves(like[0], next))> out;
    for (const auto& each : like) out.push_back(with_leaves(each, next));
    return out;
  }
}

/// The Jacobian from blocks[i][j], the derivatives of result i by active leaf j.
template <class R, class Chosen>
auto jacobian_of(const R& result, const Chosen& chosen, const std::vector<std::vector<Array>>& blocks) {
  if constexpr (std::same_as<Chosen, Array>) {
    std::vector<Array> each;
    for (const std::vector<Array>& b : blocks) each.push_back(b[0]);
    return tree::unflatten<Array>(result, each);
  } else {
    std::size_t i = 0;
    auto next = [&] { return tree::unflatten<Array>(chosen, blocks[i++]); };
    return with_leaves(result, next);
  }
}

template <class F, std::size_t... N>
class Jacfwd {
 public:
  explicit Jacfwd(F f) : f_(std::move(f)) {}
  template <class... Args>
  auto operator()(Args&&... args) const {
    using Tuple = ArgumentTuple<const F, Args...>;
    static_assert(((N < sizeof...(Args)) && ...), "argument number out of range");
    const Tuple arguments(std::forward<Args>(args)...);
    const std::vector<Array> leaves = tree::leaves<Array>(arguments);
    check_active("jacfwd", leaves, active_leaves<N...>(arguments), argument_paths(arguments));
    const auto result = trace_function(f_, arguments, Trace::Kind::nested).like;
    std::vector<std::vector<Array>> blocks(tree::leaves<Array>(result).size());
    for (std::size_t j : chosen_leaves<N...>(arguments)) {
      auto of_leaf = [&](const Array& x) {
        std::vector<Array> replaced = leaves;
        replaced[j] = x;
        Tuple at = tree::unflatten<Array>(arguments, replaced);
        return std::apply(f_, at);
      };
      auto push = [&](const Array& t) { return tree::leaves<Array>(strata::jvp(of_leaf, std::tuple(leaves[j]), std::tuple(t)).second); };
      const std::vector<Array> columns = strata::vmap(push, {.out_axes = {-1}})(basis(leaves[j]));
      for (std::size_t i = 0; i < columns.size(); ++i) blocks[i].push_back(arrange_columns(columns[i], leaves[j]));
    }
    return jacobian_of(result, chosen<Tuple, N...>(arguments), blocks);
  }

 private:
  F f_;
};

template <class F, std::size_t... N>
class Jacrev {
 public:
  explicit Jacrev(F f) : f_(std::move(f)) {}
  template <class... Args>
  auto operator()(Args&&... args) const {
    using Tuple = ArgumentTuple<const F, Args...>;
    static_assert(((N < sizeof...(Args)) && ...), "argument number out of range");
    const Tuple arguments(std::forward<Args>(args)...);
    check_active("jacrev", tree::leaves<Array>(arguments), active_leaves<N...>(arguments), argument_paths(arguments));
    const auto traced = trace_function(f_, arguments, Trace::Kind::nested);
    const auto [results, linear] = internal::linearize(traced.program, tree::leaves<Array>(arguments));
    std::vector<std::vector<Array>> blocks(results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      std::vector<Array> cotangents;
      for (const Array& y : results) cotangents.push_back(zeros_of(y));
      auto pull = [&](const Array& t) {
        std::vector<Array> given = cotangents;
        given[i] = t;
        return linear.pull(given);
      };
      const std::vector<Array> rows = strata::vmap(pull)(basis(results[i]));
      for (std::size_t j : chosen_leaves<N...>(arguments)) blocks[i].push_back(arrange_rows(rows[j], results[i]));
    }
    return jacobian_of(traced.unflatten(results), chosen<Tuple, N...>(arguments), blocks);
  }

 private:
  F f_;
};

}  // namespace internal

/// `jacfwd<N...>(f)(args...)`: derivatives by arguments N... (argument 0 unless given), by one push forward for each element of them.
template <std::size_t... N, class F>
auto jacfwd(F f) {
  if constexpr (sizeof...(N) == 0) return internal::Jacfwd<F, 0>(std::move(f));
  else return internal::Jacfwd<F, N...>(std::move(f));
}
/// The same by one pull back for each element of the results.
template <std::size_t... N, class F>
auto jacrev(F f) {
  if constexpr (sizeof...(N) == 0) return internal::Jacrev<F, 0>(std::move(f));
  else return internal::Jacrev<F, N...>(std::move(f));
}
/// Second derivatives: the Jacobian of the Jacobian.
template <std::size_t... N, class F>
auto hessian(F f) { return jacfwd<N...>(jacrev<N...>(std::move(f))); }

}  // namespace strata
