// All derivatives of a function's results by its arguments at once.
//
//   jacfwd(f)(x)   jacrev(f)(x)   hessian(f)(x)   // by argument 0: y's shape followed by x's
//   auto [jx, jz] = jacrev<0, 2>(f)(x, y, z);     // by arguments 0 and 2
//   auto [[xx, xy], [yx, yy]] = hessian<0, 1>(f)(x, y);
//   auto h = hessian(loss)(params);               // of a struct: h[&Params::w].b, by w and b
//   auto [j, aux] = jacfwd(f, has_aux)(x);        // f returns pair{y, aux}
//   jacrev(f, {.holomorphic = true})(z);          // complex z and y: derivatives by z; with both:
//                                                 // jacrev(f, has_aux, {...})
//
// Numbers of arguments are upstream's argnums: one gives a tree like that argument, several a tuple
// of them. The Jacobian is a tree like the result that has such a tree in place of each of its
// arrays: where that is one array, of the result's own type; else a tuple stays a tuple, a vector a
// vector, a map a map, and a struct with STRATA_FIELDS becomes FieldsOf. These arguments are trees
// of floats; other arguments may be anything.
#pragma once

#include "strata/api/transform/fields_of.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/vmap.h"

namespace strata {

/// Of jacfwd and hessian.
struct JacobianOptions {
  internal::Named named = internal::Named();
  /// The function is promised to be holomorphic: arguments and results must be complex.
  bool holomorphic = false;
};

/// Of jacrev.
struct JacrevOptions {
  internal::Named named = internal::Named();
  /// The function is promised to be holomorphic: arguments and results must be complex.
  bool holomorphic = false;
  /// As in GradOptions.
  bool allow_int = false;
};

namespace internal {

/// All unit arrays of x's type, stacked.
Array basis(const Array& x);
/// Derivatives with one axis for the elements of x or y, the last or the first, as an array of y's
/// shape followed by x's.
Array arrange_columns(const Array& columns, const Array& x);
Array arrange_rows(const Array& rows, const Array& y);
Array zeros_of(const Array& x);

/// With kAux what the function returned besides its result goes along.
template <bool kAux, class R, class J>
auto with_aux(J jacobian, const R& value) {
  if constexpr (kAux)
    return std::pair(std::move(jacobian), std::get<1>(value));
  else
    return jacobian;
}

/// The Jacobian from blocks[i][j], the derivatives of result i by active leaf j.
template <class R, class Chosen>
auto jacobian_of(const R& result, const Chosen& chosen,
                 const std::vector<std::vector<Array>>& blocks) {
  if constexpr (std::same_as<Chosen, Array>) {
    std::vector<Array> each;
    for (const std::vector<Array>& b : blocks) each.push_back(b[0]);
    return tree::unflatten<Array>(result, each);
  } else {
    std::size_t i = 0;
    auto next = [&] { return tree::unflatten<Array>(chosen, blocks[i++]); };
    return with_leaves<Chosen>(result, next);
  }
}

template <class F, bool kAux, std::size_t... N>
class [[nodiscard]] Jacfwd {
 public:
  explicit Jacfwd(F f, bool holomorphic, const Where& where)
      : f_(std::move(f)), asked_{"jacfwd", true, holomorphic}, where_(where) {}
  template <class... Args>
  [[nodiscard]] auto operator()(Args&&... args) const {
    using Tuple = ArgumentTuple<const F, Args...>;
    static_assert(((N < sizeof...(Args)) && ...), "argument number out of range");
    Site site(where_);
    const Tuple arguments(std::forward<Args>(args)...);
    const std::vector<Array> leaves = tree::leaves<Array>(arguments);
    check_arguments(asked_, leaves, active_leaves<N...>(arguments), argument_paths(arguments));
    const auto traced = trace_function(f_, arguments, Trace::Kind::nested);
    const std::size_t results = count_differentiated<kAux>(traced.like);
    for (std::size_t i = 0; i < results; ++i)
      check_result(asked_, traced.program.block->results[i]->type());
    std::vector<std::vector<Array>> blocks(results);
    for (std::size_t j : chosen_leaves<N...>(arguments)) {
      auto of_leaf = [&](const Array& x) {
        std::vector<Array> replaced = leaves;
        replaced[j] = x;
        return part(call(traced.program, replaced), 0, results);
      };
      auto push = [&](const Array& t) {
        return strata::jvp(of_leaf, std::tuple(leaves[j]), std::tuple(t)).second;
      };
      const std::vector<Array> columns = strata::vmap(push, {.out_axes = {-1}})(basis(leaves[j]));
      for (std::size_t i = 0; i < results; ++i)
        blocks[i].push_back(arrange_columns(columns[i], leaves[j]));
    }
    auto jacobian =
        jacobian_of(differentiated<kAux>(traced.like), chosen<Tuple, N...>(arguments), blocks);
    if constexpr (kAux)
      return with_aux<kAux>(std::move(jacobian), traced.unflatten(call(traced.program, leaves)));
    else
      return jacobian;
  }

 private:
  F f_;
  Differentiation asked_;
  Where where_;
};

template <class F, bool kAux, std::size_t... N>
class [[nodiscard]] Jacrev {
 public:
  explicit Jacrev(F f, const JacrevOptions& options, const Where& where)
      : f_(std::move(f)),
        asked_{"jacrev", false, options.holomorphic, options.allow_int},
        where_(where) {}
  template <class... Args>
  [[nodiscard]] auto operator()(Args&&... args) const {
    using Tuple = ArgumentTuple<const F, Args...>;
    static_assert(((N < sizeof...(Args)) && ...), "argument number out of range");
    Site site(where_);
    const Tuple arguments(std::forward<Args>(args)...);
    const std::vector<Array> leaves = tree::leaves<Array>(arguments);
    check_arguments(asked_, leaves, active_leaves<N...>(arguments), argument_paths(arguments));
    const auto traced = trace_function(f_, arguments, Trace::Kind::nested);
    const std::size_t count = count_differentiated<kAux>(traced.like);
    for (std::size_t i = 0; i < count; ++i)
      check_result(asked_, traced.program.block->results[i]->type());
    const auto [results, linear] = internal::linearize(traced.program, leaves, count);
    std::vector<Array> zeros;
    for (std::size_t i = 0; i < count; ++i) zeros.push_back(zeros_of(results[i]));
    std::vector<std::vector<Array>> blocks(count);
    for (std::size_t i = 0; i < count; ++i) {
      auto pull = [&](const Array& t) {
        std::vector<Array> given = zeros;
        given[i] = t;
        return linear.pull(given);
      };
      const std::vector<Array> rows = strata::vmap(pull)(basis(results[i]));
      for (std::size_t j : chosen_leaves<N...>(arguments))
        blocks[i].push_back(arrange_rows(rows[j], results[i]));
    }
    const auto value = traced.unflatten(results);
    return with_aux<kAux>(
        jacobian_of(differentiated<kAux>(value), chosen<Tuple, N...>(arguments), blocks), value);
  }

 private:
  F f_;
  Differentiation asked_;
  Where where_;
};

template <bool kAux, std::size_t... N, class F>
auto make_jacfwd(F f, bool holomorphic, const Where& where) {
  if constexpr (sizeof...(N) == 0)
    return Jacfwd<F, kAux, 0>(std::move(f), holomorphic, where);
  else
    return Jacfwd<F, kAux, N...>(std::move(f), holomorphic, where);
}
template <bool kAux, std::size_t... N, class F>
auto make_jacrev(F f, const JacrevOptions& options, const Where& where) {
  if constexpr (sizeof...(N) == 0)
    return Jacrev<F, kAux, 0>(std::move(f), options, where);
  else
    return Jacrev<F, kAux, N...>(std::move(f), options, where);
}

}  // namespace internal

/// `jacfwd<N...>(f)(args...)`: derivatives by arguments N... (argument 0 unless given), by one push
/// forward for each element of them. Throws Error for complex arguments unless `holomorphic`;
/// results may be complex.
template <std::size_t... N, class F>
auto jacfwd(F f, JacobianOptions options = {}, Where where = Where::current()) {
  return internal::make_jacfwd<false, N...>(std::move(f), options.holomorphic, where);
}
/// Of an f that returns pair{y, aux}: pair{derivatives of y, aux}.
template <std::size_t... N, class F>
auto jacfwd(F f, HasAux, JacobianOptions options = {}, Where where = Where::current()) {
  return internal::make_jacfwd<true, N...>(std::move(f), options.holomorphic, where);
}

/// `jacrev<N...>(f)(args...)`: what `jacfwd` gives, by one pull back for each element of the
/// results. Throws Error for complex results unless `holomorphic`; arguments may be complex.
template <std::size_t... N, class F>
auto jacrev(F f, JacrevOptions options = {}, Where where = Where::current()) {
  return internal::make_jacrev<false, N...>(std::move(f), options, where);
}
template <std::size_t... N, class F>
auto jacrev(F f, HasAux, JacrevOptions options = {}, Where where = Where::current()) {
  return internal::make_jacrev<true, N...>(std::move(f), options, where);
}

/// Second derivatives: the Jacobian of the Jacobian.
template <std::size_t... N, class F>
auto hessian(F f, JacobianOptions options = {}, Where where = Where::current()) {
  return jacfwd<N...>(jacrev<N...>(std::move(f), {.holomorphic = options.holomorphic}, where),
                      options, where);
}
template <std::size_t... N, class F>
auto hessian(F f, HasAux, JacobianOptions options = {}, Where where = Where::current()) {
  return jacfwd<N...>(
      jacrev<N...>(std::move(f), has_aux, {.holomorphic = options.holomorphic}, where), has_aux,
      options, where);
}

}  // namespace strata
