// Reductions over windows of an array, and how windows and convolutions are laid out: jax.lax's
// reduce_window and its shape functions.
#pragma once

#include <utility>
#include <vector>

#include "strata/api/lax/reductions.h"
#include "strata/api/lax/types.h"

namespace strata::lax {

/// Elements before and after each dimension. SAME: as many windows as steps fit into the size, what
/// is odd behind (SAME_LOWER: before); VALID: none.
std::vector<std::pair<std::int64_t, std::int64_t>> padtype_to_pads(const Sizes& in_shape,
                                                                   const Sizes& window_shape,
                                                                   const Sizes& window_strides,
                                                                   const WindowPadding& padding,
                                                                   Where where = Where::current());
/// How many windows there are along each dimension. Dilations, where given, stretch the array and
/// the windows.
std::vector<std::int64_t> reduce_window_shape_tuple(
    const Sizes& operand_shape, const Sizes& window_dimensions, const Sizes& window_strides,
    const WindowPadding& padding, const Sizes& base_dilation = {},
    const Sizes& window_dilation = {}, Where where = Where::current());

struct ReduceWindow {
  internal::Named named = internal::Named();
  /// One number for each dimension; 1 where left out.
  Sizes window_strides = {};
  WindowPadding padding = "VALID";
  Sizes base_dilation = {}, window_dilation = {};
};
namespace detail {
[[nodiscard]] std::vector<Array> reduce_window(const Folded& what, const Sizes& window_dimensions,
                                               const ReduceWindow& options);
}  // namespace detail
/// The elements of each window, and the initial values, combined by an associative function of
/// scalars; `operands` is an array or a tree of arrays of one shape, `init_values` a scalar for
/// each. Padding counts as initial values.
template <class Operands, class Init, class F>
auto reduce_window(const Operands& operands, const Init& init_values, F computation,
                   const Sizes& window_dimensions, const ReduceWindow& options = {},
                   Where where = Where::current()) {
  internal::Site site(where);
  using Tree = internal::AsOperand<Operands>;
  const Tree given(operands);
  const auto traced = detail::trace_fold<Tree>("reduce_window", given, computation);
  return traced.unflatten(detail::reduce_window(
      detail::folded<Tree>("reduce_window", given, init_values, traced.program), window_dimensions,
      options));
}

}  // namespace strata::lax
