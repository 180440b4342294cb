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

#include "strata/api/function.h"
#include "strata/api/index.h"

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
}  // namespace internal

/// carry, y = f(carry, x) for each element along the first axis of xs; returns the last carry and
/// the stacked ys. Without xs give `nullptr` and a length.
template <class F, class Init, class Xs>
auto scan(F f, const Init& initial, const Xs& xs, const ScanOptions& options = {}) {
  using Carry = internal::AsOperand<Init>;
  Carry init(initial);
  const std::vector<Array> elements = tree::leaves<Array>(xs);
  std::optional<std::int64_t> length = options.length;
  const std::vector<Type> types = internal::element_types(elements, length);
  auto traced = internal::settle("scan", init, [&](const Carry& carry) {
    std::vector<Type> all;
    tree::for_each(carry, [&](const Array& a) { all.push_back(a.type()); });
    all.insert(all.end(), types.begin(), types.end());
    return internal::trace_function(f, std::tuple<Carry, Xs>(carry, xs),
                                    internal::Trace::Kind::nested, all);
  });
  return traced.unflatten(internal::scan(traced.program, tree::leaves<Array>(init), elements,
                                         *length, options.reverse));
}

/// carry = body(carry) while cond(carry) holds.
template <class Cond, class Body, class Init>
auto while_loop(Cond cond, Body body, const Init& initial) {
  using Carry = internal::AsOperand<Init>;
  Carry init(initial);
  auto one = [&](const Carry& carry) {
    return internal::trace_function(body, std::tuple<Carry>(carry), internal::Trace::Kind::nested);
  };
  auto traced = internal::settle("while_loop", init, one);
  auto condition =
      internal::trace_function(cond, std::tuple<Carry>(init), internal::Trace::Kind::nested);
  return tree::unflatten<Array>(
      init, internal::while_loop(condition.program, traced.program, tree::leaves<Array>(init)));
}

/// x = body(i, x) for i in [lower, upper). With C++ bounds this is a scan, which differentiates;
/// with arrays a while_loop.
template <class Body, class Init>
auto fori_loop(std::int64_t lower, std::int64_t upper, Body body, const Init& initial) {
  using Carry = internal::AsOperand<Init>;
  auto step = [&](const std::pair<Array, Carry>& c, std::nullptr_t) {
    return std::pair(std::pair<Array, Carry>(c.first + 1, body(c.first, c.second)), nullptr);
  };
  const std::pair<Array, Carry> init(Array(lower).astype(int32), Carry(initial));
  return scan(step, init, nullptr, {.length = std::max<std::int64_t>(0, upper - lower)})
      .first.second;
}
template <class Body, class Init>
auto fori_loop(const Array& lower, const Array& upper, Body body, const Init& initial) {
  using Carry = internal::AsOperand<Init>;
  const std::pair<Array, Carry> init(lower.astype(int32), Carry(initial));
  auto below = [&](const std::pair<Array, Carry>& c) { return c.first < upper.astype(int32); };
  auto step = [&](const std::pair<Array, Carry>& c) {
    return std::pair<Array, Carry>(c.first + 1, body(c.first, c.second));
  };
  return while_loop(below, step, init).second;
}

/// branches[index](operands...); an index out of range is clamped. All branches return trees of the
/// same types.
template <class F, class... Operands>
auto switch_(const Operand& index, const std::vector<F>& branches, const Operands&... operands) {
  internal::Site site(index);
  using Tuple = std::tuple<internal::AsOperand<Operands>...>;
  const Tuple arguments(operands...);
  if (branches.empty()) internal::fail("switch_", "needs at least one branch");
  std::vector<decltype(internal::trace_function(branches[0], arguments,
                                                internal::Trace::Kind::nested))>
      traced;
  for (const F& branch : branches)
    traced.push_back(internal::trace_function(branch, arguments, internal::Trace::Kind::nested));
  std::vector<const internal::Program*> programs;
  for (const auto& t : traced) programs.push_back(&t.program);
  return traced[0].unflatten(internal::branch(index, programs, tree::leaves<Array>(arguments)));
}

/// predicate ? on_true(operands...) : on_false(operands...), of which only one is run.
template <class OnTrue, class OnFalse, class... Operands>
auto cond(const Operand& predicate, OnTrue on_true, OnFalse on_false, const Operands&... operands) {
  internal::Site site(predicate);
  using Tuple = std::tuple<internal::AsOperand<Operands>...>;
  const Tuple arguments(operands...);
  internal::check_predicate("cond", predicate->type());
  const auto first = internal::trace_function(on_true, arguments, internal::Trace::Kind::nested);
  const auto second = internal::trace_function(on_false, arguments, internal::Trace::Kind::nested);
  const internal::Program* programs[] = {&second.program, &first.program};
  return first.unflatten(
      internal::branch(predicate->astype(bool_), programs, tree::leaves<Array>(arguments)));
}

namespace lax {
using strata::cond;
using strata::fori_loop;
using strata::scan;
using strata::switch_;
using strata::while_loop;
}  // namespace lax

}  // namespace strata
