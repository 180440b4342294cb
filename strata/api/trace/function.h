// How user functions on trees meet graphs: arguments are flattened, the function is traced, results
// are put back.
//
// C++ scalars given as arguments become arrays (operands of the program, not parts of it) wherever
// the function accepts arrays in their place, and so do those that bodies and branches of control
// flow return; everything else in a tree that is no array is static. What cannot be traced is
// refused here, in a sentence, before it meets the templates below.
#pragma once

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "strata/api/trace/trace.h"

namespace strata::internal {

template <class T>
using AsOperand = std::conditional_t<Scalar<std::remove_cvref_t<T>>, Array, std::remove_cvref_t<T>>;
template <class T>
using Decayed = std::remove_cvref_t<T>;

/// Which types of arguments a function is traced with: scalars as arrays when it takes them, else
/// as they are.
template <class F, class... Args>
using ArgumentTuple =
    std::conditional_t<std::is_invocable_v<F&, AsOperand<Args>&...>, std::tuple<AsOperand<Args>...>,
                       std::tuple<Decayed<Args>...>>;

// ---- scalars in trees ---------------------------------------------------------------------------

template <class T>
struct ArraysOf {
  using type = T;
};
/// T with arrays in place of C++ scalars, also in pairs, tuples, vectors and std::arrays.
template <class T>
using AsArrays = typename ArraysOf<std::remove_cvref_t<T>>::type;
template <Scalar T>
struct ArraysOf<T> {
  using type = Array;
};
template <class A, class B>
struct ArraysOf<std::pair<A, B>> {
  using type = std::pair<AsArrays<A>, AsArrays<B>>;
};
template <class... Ts>
struct ArraysOf<std::tuple<Ts...>> {
  using type = std::tuple<AsArrays<Ts>...>;
};
template <class T>
struct ArraysOf<std::vector<T>> {
  using type = std::vector<AsArrays<T>>;
};
template <class T, std::size_t N>
struct ArraysOf<std::array<T, N>> {
  using type = std::array<AsArrays<T>, N>;
};

template <class T>
AsArrays<T> as_arrays(T&& tree) {
  using From = std::remove_cvref_t<T>;
  using To = AsArrays<T>;
  if constexpr (std::same_as<From, To> || std::same_as<To, Array>) {
    return To(std::forward<T>(tree));
  } else if constexpr (requires { std::tuple_size<To>::value; }) {
    return std::apply(
        [](auto&&... each) { return To{as_arrays(std::forward<decltype(each)>(each))...}; },
        std::forward<T>(tree));
  } else {
    To out;
    for (const auto& each : tree) out.push_back(as_arrays(each));
    return out;
  }
}
/// f whose scalars are arrays.
template <class F>
auto with_array_results(F& f) {
  return [&f](auto&... args) { return as_arrays(f(args...)); };
}

template <class F, class Tuple>
struct ResultOf;
template <class F, class... Args>
struct ResultOf<F, std::tuple<Args...>> {
  using type = std::remove_cvref_t<std::invoke_result_t<F&, Args&...>>;
};
/// What the function returns, without references.
template <class F, class Tuple>
using Result = typename ResultOf<F, Tuple>::type;

// ---- what is refused ----------------------------------------------------------------------------

/// Whether f can be traced with such arguments.
template <class F, class... Args>
constexpr bool accepts() {
  constexpr bool trees = (tree::is_tree<AsOperand<Args>> && ...);
  static_assert(trees,
                "an argument is neither an array nor a tree of arrays: a struct becomes one by "
                "STRATA_FIELDS(its members)");
  if constexpr (trees) {
    constexpr bool callable = std::is_invocable_v<F&, AsOperand<Args>&...> ||
                              std::is_invocable_v<F&, std::remove_cvref_t<Args>&...>;
    static_assert(callable,
                  "the function does not take these arguments: look at their number and types");
    if constexpr (callable) {
      constexpr bool result = tree::is_tree<AsArrays<Result<F, ArgumentTuple<F, Args...>>>>;
      static_assert(result,
                    "the function returns neither an array nor a tree of arrays (vector, tuple, a "
                    "struct with STRATA_FIELDS, ...)");
      return result;
    }
  }
  return false;
}

/// A traced function: the graph, and a result whose leaves are to be replaced.
template <class R>
struct Traced {
  Program program;
  R like;
  R unflatten(std::span<const Array> leaves) const { return tree::unflatten<Array>(like, leaves); }
};

/// Paths of the leaves of an argument list: "argument 0.w", "argument 1".
template <class... Args>
std::vector<std::string> argument_paths(const std::tuple<Args...>& arguments) {
  std::vector<std::string> out;
  std::size_t number = 0;
  auto one = [&](const auto& argument) {
    tree::for_each_path(
        argument, [&](const std::string& path, const Array&) { out.push_back(path); },
        fmt::format("argument {}", number++));
  };
  std::apply([&](const auto&... each) { (one(each), ...); }, arguments);
  return out;
}

/// Traces f on arrays of the types of `arguments`' leaves, or of `types` where given (one per
/// leaf).
template <class F, class... Args>
auto trace_function(F& f, std::tuple<Args...> arguments, Trace::Kind kind,
                    std::span<const Type> types = {}) {
  using R = Result<F, std::tuple<Args...>>;
  static_assert(!std::is_void_v<R>, "a traced function returns a tree of arrays");
  static_assert(std::is_void_v<R> || tree::is_tree<R>,
                "the result of a traced function is an array or a tree of arrays (STRATA_FIELDS, "
                "vector, tuple, ...)");
  if constexpr (tree::is_tree<R>) {
    Trace trace(kind);
    std::size_t i = 0;
    tree::for_each(arguments, [&](Array& x) {
      x = trace.argument(i < types.size() ? types[i] : x.type(), x.weak());
      ++i;
    });
    R result = std::apply(f, arguments);
    Program program = trace.finish(tree::leaves<Array>(result));
    return Traced<R>{std::move(program), std::move(result)};
  }
}

/// Part of a list.
inline std::vector<Array> part(const std::vector<Array>& all, std::size_t from, std::size_t count) {
  return {all.begin() + static_cast<std::ptrdiff_t>(from),
          all.begin() + static_cast<std::ptrdiff_t>(from + count)};
}
inline void append(std::vector<Array>& to, const std::vector<Array>& more) {
  to.insert(to.end(), more.begin(), more.end());
}
inline std::vector<Array> joined(std::vector<Array> first, const std::vector<Array>& second) {
  append(first, second);
  return first;
}

}  // namespace strata::internal
