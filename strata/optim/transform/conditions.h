// Transformations that act on some steps only, and guards.
#pragma once

#include "strata/optim/gradient_transformation.h"
#include "strata/optim/options.h"

namespace strata::optim {

/// Whether to act at a step (an i32 number, 0 first); a boolean number.
using Condition = std::function<Array(const Array& step, const Extra& extra)>;

/// `inner` at the steps that the condition takes; at the others updates pass and its state stays.
/// State: inner_state, step. Only the branch that is taken is run.
GradientTransformation conditionally_transform(GradientTransformation inner,
                                               Condition should_transform_fn,
                                               bool forward_extra_args = false);
/// The same with zeros at the other steps. State: step, inner_state.
GradientTransformation conditionally_mask(GradientTransformation inner,
                                          Condition should_transform_fn,
                                          bool forward_extra_args = false);
/// `inner` where all updates are finite; elsewhere zeros, and its state stays, until that happened
/// more than max_consecutive_errors times in a row. State: notfinite_count, last_finite,
/// total_notfinite, inner_state.
GradientTransformation apply_if_finite(GradientTransformation inner,
                                       std::int64_t max_consecutive_errors);
/// NaN becomes 0. State: found_nan, whether each leaf had one.
GradientTransformation zero_nans();
/// Updates that would make a weight negative make it 0 instead.
GradientTransformation keep_params_nonnegative();

/// All leaves as one vector for `inner`, whose norms and dtypes are then those of all.
GradientTransformation flatten(GradientTransformation inner);
/// Complex leaves as a `real` and an `imaginary` one for `inner`. State: inner_state.
GradientTransformation split_real_and_imaginary(GradientTransformation inner);
/// f(update, parameter or null) leaf by leaf.
GradientTransformation stateless_with_tree_map(
    std::string text, std::function<Array(const Array& update, const Array* param)> f);

namespace detail {
/// What happens to updates where the inner transformation is not run.
enum class Otherwise { zeros, pass };
/// Updates and state of `inner` where the condition holds, of its dtypes; else the old state.
std::pair<Tree, Tree> update_when(const Array& condition, const GradientTransformation& inner,
                                  Otherwise otherwise, const Tree& updates, const Tree& state,
                                  const Tree* params, const Extra& extra);
}  // namespace detail

}  // namespace strata::optim

namespace strata::optim::contrib {
using optim::split_real_and_imaginary;
}  // namespace strata::optim::contrib
