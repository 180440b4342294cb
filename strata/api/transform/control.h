// Control flow whose course depends on traced values, on trees of arrays.
//
//   auto [carry, ys] = scan([](Array c, Array x) { return std::pair(c + x, c * x); }, init, xs);
//   Array n = while_loop([](Array i) { return i < 10; }, [](Array i) { return i + 1; }, Array(0));
//   Array y = cond(x > 0, [](Array v) { return v; }, [](Array v) { return -v; }, x);
//   Array p = fori_loop(0, 5, [](Array i, Array v) { return v * 2; }, x);
//
// Functions may use arrays from outside. Loops with static bounds and scans differentiate in both
// modes, while_loop forward only; a C++ `if` or `for` on static data needs none of these.
#pragma once

#include "strata/api/index.h"
#include "strata/api/trace/function.h"

namespace strata {

/// Options of `scan`.
struct ScanOptions {
  internal::Named named = internal::Named();
  /// The number of steps; needed when there are no xs.
  std::optional<std::int64_t> length = std::nullopt;
  /// From the last element to the first; ys stand where their xs stood.
  bool reverse = false;
};

namespace internal {
/// Types of the elements of xs, and how many there are.
std::vector<Type> element_types(std::span<const Array> xs, std::optional<std::int64_t>& length);
/// Carries cast to the dtypes that the body gives them when only weak ones change; fails when
/// shapes or dtypes differ.
std::vector<Array> settle_carries(const char* name, std::span<const Array> init,
                                  const Program& body, const std::vector<std::string>& paths,
                                  bool& changed);
std::vector<Array> scan(const Program& body, std::span<const Array> init, std::span<const Array> xs,
                        std::int64_t length, bool reverse);
std::vector<Array> while_loop(const Program& cond, const Program& body,
                              std::span<const Array> init);
/// Branches of equal result types on the same operands; `index` is an i32 or boolean scalar.
std::vector<Array> branch(const Array& index, std::span<const Program* const> branches,
                          std::span<const Array> operands);
void check_predicate(const char* name, const Type& type);

/// Traces a loop's body until the types of its carries settle; `trace` maps init to a Traced<...>.
template <class Carry, class Trace>
auto settle(const char* name, Carry& init, Trace&& trace) {
  for (int round = 0;; ++round) {
    auto traced = trace(init);
    bool changed = false;
    const std::vector<Array> carries = settle_carries(
        name, tree::leaves<Array>(init), traced.program, tree::paths(init, "carry"), changed);
    if (!changed) return traced;
    STRATA_CHECK(round < 4, "types of carries do not settle");
    init = tree::unflatten<Array>(std::move(init), carries);
  }
}

// ---- what bodies are ----------------------------------------------------------------------------

/// A loop's carry: the initial one, its C++ scalars as arrays where the body takes them so.
template <class Body, class Init, class... More>
using CarryOf = std::conditional_t<std::is_invocable_v<Body&, AsArrays<Init>&, More&...>,
                                   AsArrays<Init>, AsOperand<Init>>;
/// The type of the carry that fori_loop passes to its body.
template <class Body, class Init>
using CountedCarry = std::conditional_t<std::is_invocable_v<Body&, Array&, AsArrays<Init>&>,
                                        AsArrays<Init>, AsOperand<Init>>;
template <class Carry, class Init>
Carry carry_from(const Init& initial) {
  if constexpr (std::same_as<Carry, AsArrays<Init>>)
    return as_arrays(initial);
  else
    return Carry(initial);
}

/// What a body returns for a carry: its C++ scalars as arrays where the carry has arrays.
template <class Carry, class R>
auto as_next(R&& returned) {
  if constexpr (std::same_as<Carry, std::remove_cvref_t<R>>)
    return std::forward<R>(returned);
  else
    return as_arrays(std::forward<R>(returned));
}

/// Throws Error where a tree's shape or static data is not what it was before a step.
void check_structure(const char* name, const tree::Structure& before, const tree::Structure& after);
template <class Before, class After>
void check_structure(const char* name, const Before& before, const After& after) {
  if constexpr (!std::same_as<Before, Array> || !std::same_as<After, Array>)
    check_structure(name, tree::structure(before), tree::structure(after));
}
/// Throws Error where two branches return trees of different structure.
void check_branches(const char* name, const tree::Structure& one, const tree::Structure& other);
template <class R>
void check_branches(const char* name, const R& one, const R& other) {
  if constexpr (!std::same_as<R, Array>)
    check_branches(name, tree::structure(one), tree::structure(other));
}
/// (i + 1, body(i, x))
template <class Carry, class Body>
std::pair<Array, Carry> counted(const char* name, const std::pair<Array, Carry>& c, Body& body) {
  Array i = c.first;
  Carry x = c.second;
  auto out = as_next<Carry>(body(i, x));
  check_structure(name, c.second, out);
  if constexpr (std::same_as<decltype(out), Carry>)
    return {c.first + 1, std::move(out)};
  else
    return {c.first + 1, tree::unflatten<Array>(c.second, tree::leaves<Array>(out))};
}

template <class R>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;
template <class A, class B>
inline constexpr bool is_pair<std::tuple<A, B>> = true;
/// Whether a body may return R for a carry: both one array, or both trees of several.
template <class Carry, class R>
inline constexpr bool is_next =
    tree::is_tree<AsArrays<R>> && std::same_as<Carry, Array> == std::same_as<AsArrays<R>, Array>;

// Each says in one sentence what is wrong; the functions below go on where nothing is.
template <class F, class Carry, class Xs>
constexpr bool is_scan_body() {
  static_assert(tree::is_tree<Carry> && tree::is_tree<Xs>,
                "the initial carry and xs of scan are trees of arrays");
  constexpr bool callable = std::is_invocable_v<F&, Carry&, Xs&>;
  static_assert(callable,
                "the body of scan takes (carry, x): a carry like the initial one, and an element "
                "of xs (without xs std::nullptr_t)");
  if constexpr (callable) {
    using R = std::remove_cvref_t<std::invoke_result_t<F&, Carry&, Xs&>>;
    static_assert(is_pair<R>,
                  "the body of scan returns std::pair(carry, y); without outputs y is nullptr");
    if constexpr (is_pair<R>) {
      constexpr bool next = is_next<Carry, std::tuple_element_t<0, R>>;
      static_assert(next,
                    "the body of scan returns std::pair(carry, y) with a carry like the initial "
                    "one");
      constexpr bool outputs = tree::is_tree<std::tuple_element_t<1, R>>;
      static_assert(outputs, "the y of std::pair(carry, y) is a tree of arrays, or nullptr");
      return next && outputs;
    }
  }
  return false;
}
template <class Cond, class Body, class Carry>
constexpr bool is_loop() {
  static_assert(tree::is_tree<Carry>, "the initial carry of while_loop is a tree of arrays");
  constexpr bool callable =
      std::is_invocable_v<Cond&, Carry&> && std::is_invocable_v<Body&, Carry&>;
  static_assert(callable,
                "the condition and the body of while_loop take one argument, a carry like the "
                "initial one");
  if constexpr (callable) {
    constexpr bool decides = std::same_as<AsArrays<std::invoke_result_t<Cond&, Carry&>>, Array>;
    static_assert(decides, "the condition of while_loop returns an array, one boolean");
    constexpr bool next = is_next<Carry, std::remove_cvref_t<std::invoke_result_t<Body&, Carry&>>>;
    static_assert(next, "the body of while_loop returns a carry like the initial one");
    return decides && next;
  }
  return false;
}
template <class Body, class Carry>
constexpr bool is_fori_body() {
  static_assert(tree::is_tree<Carry>, "the initial value of fori_loop is a tree of arrays");
  constexpr bool callable = std::is_invocable_v<Body&, Array&, Carry&>;
  static_assert(callable,
                "the body of fori_loop takes (i, x): an Array, and a value like the initial one");
  if constexpr (callable) {
    constexpr bool next =
        is_next<Carry, std::remove_cvref_t<std::invoke_result_t<Body&, Array&, Carry&>>>;
    static_assert(next, "the body of fori_loop returns a value like the initial one");
    return next;
  }
  return false;
}
template <class F, class... Operands>
constexpr bool is_branch() {
  static_assert((tree::is_tree<AsOperand<Operands>> && ...),
                "the operands of branches are trees of arrays: a struct becomes one by "
                "STRATA_FIELDS(its members)");
  constexpr bool callable = std::is_invocable_v<F&, AsOperand<Operands>&...>;
  static_assert(callable,
                "a branch takes the operands that cond and switch_ are given behind the branches");
  if constexpr (callable) {
    constexpr bool result =
        tree::is_tree<AsArrays<std::invoke_result_t<F&, AsOperand<Operands>&...>>>;
    static_assert(result, "a branch returns an array or a tree of arrays");
    return result;
  }
  return false;
}
template <class OnTrue, class OnFalse, class... Operands>
constexpr bool are_branches() {
  if constexpr (is_branch<OnTrue, Operands...>() && is_branch<OnFalse, Operands...>()) {
    constexpr bool same =
        std::same_as<AsArrays<std::invoke_result_t<OnTrue&, AsOperand<Operands>&...>>,
                     AsArrays<std::invoke_result_t<OnFalse&, AsOperand<Operands>&...>>>;
    static_assert(same, "both branches of cond return the same C++ type");
    return same;
  }
  return false;
}
}  // namespace internal

/// carry, y = f(carry, x) for each element along the first axis of xs; returns the last carry and
/// the stacked ys. Without xs give `nullptr` and a length; a body without outputs returns `nullptr`
/// for y.
template <class F, class Init, class Xs>
[[nodiscard]] auto scan(F f, const Init& initial, const Xs& xs, const ScanOptions& options = {},
                        Where where = Where::current()) {
  using Carry = internal::CarryOf<F, Init, Xs>;
  if constexpr (internal::is_scan_body<F, Carry, Xs>()) {
    internal::Site site(where);
    auto body = [&](Carry& c, Xs& x) {
      auto [next, y] = f(c, x);
      return std::pair(internal::as_next<Carry>(std::move(next)),
                       internal::as_arrays(std::move(y)));
    };
    Carry init = internal::carry_from<Carry>(initial);
    const std::vector<Array> elements = tree::leaves<Array>(xs);
    std::optional<std::int64_t> length = options.length;
    const std::vector<Type> types = internal::element_types(elements, length);
    auto traced = internal::settle("scan", init, [&](const Carry& carry) {
      std::vector<Type> all;
      tree::for_each(carry, [&](const Array& a) { all.push_back(a.type()); });
      all.insert(all.end(), types.begin(), types.end());
      auto out = internal::trace_function(body, std::tuple<Carry, Xs>(carry, xs),
                                          internal::Trace::Kind::nested, all);
      internal::check_structure("scan", carry, std::get<0>(out.like));
      return out;
    });
    return traced.unflatten(internal::scan(traced.program, tree::leaves<Array>(init), elements,
                                           *length, options.reverse));
  }
}

/// carry = body(carry) while cond(carry) holds.
template <class Cond, class Body, class Init>
[[nodiscard]] auto while_loop(Cond cond, Body body, const Init& initial,
                              Where where = Where::current()) {
  using Carry = internal::CarryOf<Body, Init>;
  if constexpr (internal::is_loop<Cond, Body, Carry>()) {
    internal::Site site(where);
    auto step = [&](Carry& c) { return internal::as_next<Carry>(body(c)); };
    auto test = internal::with_array_results(cond);
    Carry init = internal::carry_from<Carry>(initial);
    auto traced = internal::settle("while_loop", init, [&](const Carry& carry) {
      auto out =
          internal::trace_function(step, std::tuple<Carry>(carry), internal::Trace::Kind::nested);
      internal::check_structure("while_loop", carry, out.like);
      return out;
    });
    auto condition =
        internal::trace_function(test, std::tuple<Carry>(init), internal::Trace::Kind::nested);
    return tree::unflatten<Array>(
        init, internal::while_loop(condition.program, traced.program, tree::leaves<Array>(init)));
  }
}

/// x = body(i, x) for i in [lower, upper). With C++ bounds this is a scan, which differentiates;
/// with arrays a while_loop.
template <class Body, class Init>
[[nodiscard]] auto fori_loop(std::int64_t lower, std::int64_t upper, Body body, const Init& initial,
                             Where where = Where::current()) {
  using Carry = internal::CountedCarry<Body, Init>;
  if constexpr (internal::is_fori_body<Body, Carry>()) {
    using Counted = std::pair<Array, Carry>;
    auto step = [&](const Counted& c, std::nullptr_t) {
      return std::pair(internal::counted("fori_loop", c, body), nullptr);
    };
    internal::Site site(where);
    const Counted init(Array(lower).astype(int32), internal::carry_from<Carry>(initial));
    return scan(step, init, nullptr, {.length = std::max<std::int64_t>(0, upper - lower)}, where)
        .first.second;
  }
}
template <class Body, class Init>
[[nodiscard]] auto fori_loop(const Array& lower, const Array& upper, Body body, const Init& initial,
                             Where where = Where::current()) {
  using Carry = internal::CountedCarry<Body, Init>;
  if constexpr (internal::is_fori_body<Body, Carry>()) {
    using Counted = std::pair<Array, Carry>;
    internal::Site site(where);
    const Counted init(lower.astype(int32), internal::carry_from<Carry>(initial));
    auto below = [&](const Counted& c) { return c.first < upper.astype(int32); };
    auto step = [&](const Counted& c) { return internal::counted("fori_loop", c, body); };
    return while_loop(below, step, init, where).second;
  }
}

/// branches[index](operands...); an index out of range is clamped. All branches return trees of the
/// same types.
template <class F, class... Operands>
[[nodiscard]] auto switch_(const Operand& index, const std::vector<F>& branches,
                           const Operands&... operands) {
  if constexpr (internal::is_branch<const F, Operands...>()) {
    internal::Site site(index);
    using Tuple = std::tuple<internal::AsOperand<Operands>...>;
    const Tuple arguments(operands...);
    if (branches.empty()) internal::fail("switch_", "needs at least one branch");
    auto trace = [&](const F& branch) {
      auto f = internal::with_array_results(branch);
      return internal::trace_function(f, arguments, internal::Trace::Kind::nested);
    };
    std::vector<decltype(trace(branches[0]))> traced;
    for (const F& branch : branches) {
      traced.push_back(trace(branch));
      internal::check_branches("switch_", traced[0].like, traced.back().like);
    }
    std::vector<const internal::Program*> programs;
    for (const auto& t : traced) programs.push_back(&t.program);
    return traced[0].unflatten(internal::branch(index, programs, tree::leaves<Array>(arguments)));
  }
}

/// predicate ? on_true(operands...) : on_false(operands...), of which only one is run.
template <class OnTrue, class OnFalse, class... Operands>
[[nodiscard]] auto cond(const Operand& predicate, OnTrue on_true, OnFalse on_false,
                        const Operands&... operands) {
  if constexpr (internal::are_branches<OnTrue, OnFalse, Operands...>()) {
    internal::Site site(predicate);
    using Tuple = std::tuple<internal::AsOperand<Operands>...>;
    const Tuple arguments(operands...);
    internal::check_predicate("cond", predicate->type());
    auto trace = [&](auto& branch) {
      auto f = internal::with_array_results(branch);
      return internal::trace_function(f, arguments, internal::Trace::Kind::nested);
    };
    const auto first = trace(on_true);
    const auto second = trace(on_false);
    internal::check_branches("cond", first.like, second.like);
    const internal::Program* programs[] = {&second.program, &first.program};
    return first.unflatten(
        internal::branch(predicate->astype(bool_), programs, tree::leaves<Array>(arguments)));
  }
}

namespace lax {
using strata::cond;
using strata::fori_loop;
using strata::scan;
using strata::switch_;
using strata::while_loop;
}  // namespace lax

}  // namespace strata
