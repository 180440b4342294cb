// Loops over layers and over time, with state.
//
//   // y = block n(... block 1(block 0(x))): the blocks stacked along axis 0, x carried.
//   Array y = nn::scan([](Block& b, const Array& x) { return b(x); },
//                      {.in_axes = {0, nn::Carry}, .out_axes = {nn::Carry}})(blocks, x);
//   auto [h, ys] = nn::scan(cell_step, {.in_axes = {none, nn::Carry, 1}, .out_axes = {nn::Carry,
//   1}})
//                          (cell, h0, xs);
//
// State of an argument with an axis is sliced, and what changes is stacked along that axis again.
// State of an argument with `none` is the same for all, but what changes is carried from step to
// step. Source: Flax NNX's scan in tree mode.
#pragma once

#include "strata/api/transform/control.h"
#include "strata/nn/transform/callee.h"

namespace strata::nn {

/// How an argument or a result takes part in a scan: along an axis, carried, or as it is.
class ScanAxis {
 public:
  constexpr ScanAxis(std::integral auto axis) : kind_(Kind::axis), axis_(axis) {}  // NOLINT
  constexpr ScanAxis(std::nullopt_t) : kind_(Kind::none) {}                        // NOLINT
  /// Carried from step to step: `Carry`.
  static constexpr ScanAxis carry() { return ScanAxis(Kind::carry); }
  /// Whether it is carried.
  constexpr bool is_carry() const { return kind_ == Kind::carry; }
  /// Whether it is the same for all steps.
  constexpr bool is_none() const { return kind_ == Kind::none; }
  /// The axis of the steps; 0 where there is none.
  constexpr std::int64_t axis() const { return axis_; }

 private:
  enum class Kind { axis, carry, none };
  constexpr explicit ScanAxis(Kind kind) : kind_(kind) {}
  Kind kind_;
  std::int64_t axis_ = 0;
};
/// What one step hands to the next: one argument, and the result or the first of a pair of them.
inline constexpr ScanAxis Carry = ScanAxis::carry();

struct ScanOptions {
  internal::Named named = internal::Named();
  /// One for each argument, and for the result: {Carry}, {axis}, or {Carry, axis} of a pair.
  std::vector<ScanAxis> in_axes = {Carry, 0};
  std::vector<ScanAxis> out_axes = {Carry, 0};
  /// The number of steps, where no argument has an axis.
  std::optional<std::int64_t> length = std::nullopt;
  /// From the last to the first.
  bool reverse = false;
  /// Computes each step again in the backward pass, but for what this policy of strata::remat
  /// names; none keeps all.
  std::optional<std::string> remat = std::nullopt;
};

namespace detail {
std::vector<Array> scan(Callee& callee, const ScanOptions& options,
                        const std::function<std::size_t()>& carried_results);
template <class R>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;
template <class A, class B>
inline constexpr bool is_pair<std::tuple<A, B>> = true;
}  // namespace detail

/// A function that calls f step by step; see above.
template <class F>
auto scan(F f, ScanOptions options = {}) {
  return [f = std::move(f), options = std::move(options)]<class... Args>(Args&&... args) mutable {
    detail::TypedCallee<F, std::remove_reference_t<Args>...> callee(f, args...);
    using R = typename decltype(callee)::R;
    const std::vector<Array> results = detail::scan(callee, options, [&callee, &options] {
      // How many of the result's leaves are the carry's.
      if (options.out_axes.empty() || !options.out_axes[0].is_carry()) return std::size_t{0};
      const R like = callee.like();
      if constexpr (detail::is_pair<R>)
        if (options.out_axes.size() == 2) return tree::leaves<Array>(std::get<0>(like)).size();
      return tree::leaves<Array>(like).size();
    });
    return detail::given_back(callee.result(results));
  };
}

}  // namespace strata::nn
