// Solutions whose derivatives follow from what they solve, not from how they were found.
//
//   auto root = custom_root([&](Array x) { return x * x - a; }, a, newton, [](auto g, Array y) {
//   return y / g(1.0); }); auto x = custom_linear_solve([&](Array x) { return matmul(a, x); }, b,
//   conjugate_gradients, {.symmetric = true});
//
// How a solution is found may be anything: a while_loop, a factorisation, a function of the host.
// Derivatives of any order and mode, and vmap, solve once more at the solution.
#pragma once

#include "strata/api/transform/grad.h"
#include "strata/api/transform/graph.h"

namespace strata {

namespace internal {
/// Solutions, then what `solve` returns besides. Throws Error unless the programs' results are like
/// the guess.
std::vector<Array> custom_root(const Program& f, const Program& solve, const Program& tangent_solve,
                               std::span<const Array> guess);
/// The same of a system; `transpose_solve` and `vecmat` may be null.
std::vector<Array> custom_linear_solve(const Program& matvec, const Program& solve,
                                       const Program* transpose_solve, const Program* vecmat,
                                       std::span<const Array> b);

/// Throws Error unless matvec's results are like b.
void require_matvec(const Program& matvec, std::span<const Array> b);

/// Whether `solve` returns a solution alone, or with other things.
template <class R, class X>
inline constexpr bool is_solution = std::same_as<R, X>;
template <class R, class X>
inline constexpr bool is_solution_with_aux = false;
template <class X, class Aux>
inline constexpr bool is_solution_with_aux<std::pair<X, Aux>, X> = true;
template <class X, class Aux>
inline constexpr bool is_solution_with_aux<std::tuple<X, Aux>, X> = true;

/// A linear function of a tree like `like`; takes C++ scalars where that is an array.
template <class Push, class X>
auto linear_function(Push push) {
  return [push = std::move(push)](const X& t) -> X { return push(t); };
}
}  // namespace internal

/// x = solve(f, initial_guess), for which f(x) = 0 is assumed: its derivatives with respect to what
/// f captures are those of a root (the implicit function theorem), -tangent_solve(g, df), where g
/// is f's linear part at x and tangent_solve(g, y) is the z of g(z) = y:
///
///   [](auto g, Array y) { return y / g(1.0); }                                           // for a
///   number
///   [](auto g, Array y) { return numpy::linalg::solve(jacfwd(g)(y), y); }                // for a
///   vector
///
/// tangent_solve must be linear in y, by operations that have transposes, where the reverse mode is
/// wanted. `solve` may return pair{x, aux}; aux has no derivative (upstream's has_aux is the type
/// here). Initial guess, x, and what f returns: trees of floats of one structure. Throws Error
/// where their types differ. As jax.lax.custom_root.
template <class F, class Guess, class Solve, class TangentSolve>
auto custom_root(F f, const Guess& initial_guess, Solve solve, TangentSolve tangent_solve) {
  using X = internal::AsOperand<Guess>;
  const X guess(initial_guess);
  auto by_solve = [&](const X& x) { return solve(f, x); };
  auto by_tangents = [&](const X& x, const X& y) -> X {
    auto [value, push] = linearize(f, x);
    return tangent_solve(internal::linear_function<decltype(push), X>(push), y);
  };
  const auto error =
      internal::trace_function(f, std::tuple<X>(guess), internal::Trace::Kind::nested);
  const auto solved =
      internal::trace_function(by_solve, std::tuple<X>(guess), internal::Trace::Kind::nested);
  const auto tangent = internal::trace_function(by_tangents, std::tuple<X, X>(guess, guess),
                                                internal::Trace::Kind::nested);
  using R = std::remove_cvref_t<decltype(solved.like)>;
  static_assert(internal::is_solution<R, X> || internal::is_solution_with_aux<R, X>,
                "solve returns what is like the guess, or pair{that, aux}");
  return solved.unflatten(internal::custom_root(error.program, solved.program, tangent.program,
                                                tree::leaves<Array>(guess)));
}

struct CustomLinearSolve {
  internal::Named named = internal::Named();
  /// The system is its own transpose: `solve` solves both.
  bool symmetric = false;
};

/// x = solve(matvec, b), for which matvec(x) = b is assumed: derivatives with respect to b and what
/// matvec captures are those of a solution of a linear system. transpose_solve(vecmat, y) solves
/// the transposed system, whose product is made of matvec's; the reverse mode needs it unless
/// `symmetric`. Both may return pair{x, aux}; aux has no derivative. b: a tree of floats, like
/// which x and matvec's results are. Throws Error where their types differ. As
/// jax.lax.custom_linear_solve.
template <class Matvec, class B, class Solve, class TransposeSolve>
  requires(!std::same_as<TransposeSolve, CustomLinearSolve>)
auto custom_linear_solve(Matvec matvec, const B& rhs, Solve solve, TransposeSolve transpose_solve,
                         CustomLinearSolve options = {}) {
  using X = internal::AsOperand<B>;
  const X b(rhs);
  auto trace = [&](auto f) {
    return internal::trace_function(f, std::tuple<X>(b), internal::Trace::Kind::nested);
  };
  const std::vector<Array> leaves = tree::leaves<Array>(b);
  const auto product = trace(matvec);
  internal::require_matvec(product.program, leaves);
  const auto solved = trace([&](const X& x) { return solve(matvec, x); });
  using R = std::remove_cvref_t<decltype(solved.like)>;
  static_assert(internal::is_solution<R, X> || internal::is_solution_with_aux<R, X>,
                "solve returns what is like b, or pair{that, aux}");
  if constexpr (std::same_as<TransposeSolve, std::nullptr_t>) {
    return solved.unflatten(
        internal::custom_linear_solve(product.program, solved.program, nullptr, nullptr, leaves));
  } else {
    auto solve_across = [&](const auto& vecmat) {
      const auto across = trace(vecmat);
      const auto other = trace([&](const X& x) { return transpose_solve(vecmat, x); });
      return solved.unflatten(internal::custom_linear_solve(
          product.program, solved.program, &other.program, &across.program, leaves));
    };
    if (options.symmetric) return solve_across(matvec);
    return solve_across(
        [&](const X& y) -> X { return std::get<0>(linear_transpose(matvec, b)(y)); });
  }
}
template <class Matvec, class B, class Solve>
auto custom_linear_solve(Matvec matvec, const B& b, Solve solve, CustomLinearSolve options = {}) {
  if (options.symmetric) return custom_linear_solve(matvec, b, solve, solve, options);
  return custom_linear_solve(matvec, b, solve, nullptr, options);
}

namespace lax {
using strata::custom_linear_solve;
using strata::custom_root;
}  // namespace lax

}  // namespace strata
