// Functions of the host called from programs.
//
//   auto f = jit([](Array x) { return pure_callback([](Array v) { return slow(v); }, x, x); });
//
// The function gets the elements: its arguments are concrete arrays, also inside of jit, where the
// program calls it each time it runs. Outside of any trace it is called at once. Calls are made in
// the order of the program, and as often as it says, the pure ones too (what upstream asks for by
// `ordered`). What it throws reaches whoever called the program. A program that was recorded keeps
// the function alive for good.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "strata/api/trace/function.h"

namespace strata {

namespace internal {
using HostFunction = std::function<std::vector<Array>(std::vector<Array>)>;
/// The results of a host function, which have these types. Throws Error in the name of `operation`
/// where it gives others.
std::vector<Array> host_call(const char* operation, HostFunction f,
                             const std::vector<Type>& results, std::span<const Array> operands);

template <class F, class R, class... Args>
R callback(const char* operation, F f, const R& like, const Args&... args) {
  using Tuple = std::tuple<AsOperand<Args>...>;
  const Tuple arguments(args...);
  std::vector<Type> types;
  tree::for_each(like, [&](const Array& a) { types.push_back(a.type()); });
  HostFunction host = [f = std::move(f), arguments](std::vector<Array> leaves) {
    const R out = std::apply(f, tree::unflatten<Array>(arguments, leaves));
    return tree::leaves<Array>(out);
  };
  return tree::unflatten<Array>(
      R(like), host_call(operation, std::move(host), types, tree::leaves<Array>(arguments)));
}
}  // namespace internal

/// f(args...), a tree like `result_like`, of which only structure, shapes and dtypes count. Has no
/// derivative and does not batch: wrap it in custom_jvp or custom_vjp.
template <class F, class R, class... Args>
R pure_callback(F f, const R& result_like, const Args&... args) {
  return internal::callback("pure_callback", std::move(f), result_like, args...);
}

namespace experimental {
/// `pure_callback` for functions with effects, which are called once and in order.
template <class F, class R, class... Args>
R io_callback(F f, const R& result_like, const Args&... args) {
  return internal::callback("io_callback", std::move(f), result_like, args...);
}
}  // namespace experimental

}  // namespace strata
