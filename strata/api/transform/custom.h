// Functions with derivatives of their own, and rematerialisation.
//
//   auto log1pexp = custom_jvp([](Array x) { return log(1 + exp(x)); },
//       [](std::tuple<Array> x, std::tuple<Array> t) { ... return std::pair(y, dy); });
//   auto clipped = custom_vjp(f, forward /* args -> pair{y, residuals} */, backward /* (residuals,
//   ct) -> tuple of cotangents */); auto layer = remat(f, {.policy = "dots"});           //
//   computed again in the backward pass, but for products
#pragma once

#include "strata/api/trace/function.h"

namespace strata {

namespace internal {
std::vector<Array> custom_jvp(const Program& primal, const Program& rule,
                              std::span<const Array> arguments);
std::vector<Array> custom_vjp(const Program& primal, const Program& forward,
                              const Program& backward, std::span<const Array> arguments);
std::vector<Array> remat(const Program& program, std::span<const Array> arguments,
                         const std::string& policy);
/// Fails when the rule's results are not twice those of the function.
void check_jvp_rule(const Program& primal, const Program& rule);
void check_vjp_rules(const Program& primal, const Program& forward, const Program& backward,
                     std::span<const Array> arguments);

template <class T>
struct VjpParts;
template <class Y, class Residuals>
struct VjpParts<std::pair<Y, Residuals>> {
  using Value = Y;
  using Res = Residuals;
};
template <class Y, class Residuals>
struct VjpParts<std::tuple<Y, Residuals>> {
  using Value = Y;
  using Res = Residuals;
};
}  // namespace internal

/// f with the rule (tuple of primals, tuple of tangents) -> pair{f(primals), its tangent}. Works
/// for every transform; the reverse mode transposes the rule.
template <class F, class Rule>
[[nodiscard]] auto custom_jvp(F f, Rule rule, Where where = Where::current()) {
  return [f = std::move(f), rule = std::move(rule), where]<class... Args>(const Args&... args) {
    internal::Site site(where);
    using Tuple = internal::ArgumentTuple<const F, Args...>;
    const Tuple arguments(args...);
    auto primal = internal::trace_function(f, arguments, internal::Trace::Kind::nested);
    auto traced_rule = internal::trace_function(
        rule, std::tuple<Tuple, Tuple>(arguments, arguments), internal::Trace::Kind::nested);
    internal::check_jvp_rule(primal.program, traced_rule.program);
    return primal.unflatten(
        internal::custom_jvp(primal.program, traced_rule.program, tree::leaves<Array>(arguments)));
  };
}

/// f whose reverse derivative is backward(residuals, cotangent of the result) -> tuple of
/// cotangents of the arguments, where forward(args...) -> pair{f(args...), residuals}. Has no
/// forward derivative.
template <class F, class Forward, class Backward>
[[nodiscard]] auto custom_vjp(F f, Forward forward, Backward backward,
                              Where where = Where::current()) {
  return [f = std::move(f), forward = std::move(forward), backward = std::move(backward),
          where]<class... Args>(const Args&... args) {
    internal::Site site(where);
    using Tuple = internal::ArgumentTuple<const F, Args...>;
    const Tuple arguments(args...);
    const std::vector<Array> leaves = tree::leaves<Array>(arguments);
    auto primal = internal::trace_function(f, arguments, internal::Trace::Kind::nested);
    auto ahead = internal::trace_function(forward, arguments, internal::Trace::Kind::nested);
    using Parts = internal::VjpParts<internal::Result<const Forward, Tuple>>;
    const std::tuple<typename Parts::Res, typename Parts::Value> given(std::get<1>(ahead.like),
                                                                       std::get<0>(ahead.like));
    auto back = internal::trace_function(backward, given, internal::Trace::Kind::nested);
    internal::check_vjp_rules(primal.program, ahead.program, back.program, leaves);
    return primal.unflatten(
        internal::custom_vjp(primal.program, ahead.program, back.program, leaves));
  };
}

/// Options of `remat`.
struct RematOptions {
  internal::Named named = internal::Named();
  /// What the backward pass keeps: "nothing" (all is computed again), "everything", "dots" (results
  /// of products), "dots_no_batch" (of products without batch dimensions), "names:a,b" (what
  /// `checkpoint_name` named so).
  std::string policy = "nothing";
};
/// f, of which reverse-mode differentiation keeps only what the policy names. (JAX's second name
/// for it: strata::checkpoint is the room that saves arrays.)
template <class F>
[[nodiscard]] auto remat(F f, RematOptions options = {}, Where where = Where::current()) {
  return
      [f = std::move(f), options = std::move(options), where]<class... Args>(const Args&... args) {
        internal::Site site(where);
        using Tuple = internal::ArgumentTuple<const F, Args...>;
        const Tuple arguments(args...);
        auto traced = internal::trace_function(f, arguments, internal::Trace::Kind::nested);
        return traced.unflatten(
            internal::remat(traced.program, tree::leaves<Array>(arguments), options.policy));
      };
}

/// x under a name that remat's policies know.
Array checkpoint_name(const Operand& x, const std::string& name);

}  // namespace strata
