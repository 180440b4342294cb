// Gradients of several steps for one update.
#pragma once

#include "strata/optim/transform/conditions.h"

namespace strata::optim {

/// Whether updates are left out, as a boolean number, and what is kept of how that was decided.
using ShouldSkip = std::function<std::pair<Array, Tree>(
    const Tree& updates, const Array& gradient_step, const Tree* params)>;
/// Where an element is not finite. Keeps num_not_finite, should_skip.
std::pair<Array, Tree> skip_not_finite(const Tree& updates, const Array& gradient_step,
                                       const Tree* params);
/// Where the squared norm of all is not below a bound. Keeps norm_squared, should_skip.
ShouldSkip skip_large_updates(double max_squared_norm);

/// How many steps an update has: a number, or a function of how many updates there were.
class EveryK {
 public:
  EveryK(std::int64_t k = 1);                                 // NOLINT: implicit by intent
  EveryK(std::function<Array(const Array& gradient_step)> f)  // NOLINT
      : f_(std::move(f)) {}
  Array operator()(const Array& gradient_step) const { return f_(gradient_step); }

 private:
  std::function<Array(const Array&)> f_;
};

struct MultiStepsOptions {
  strata::internal::Named named = strata::internal::Named();
  /// The mean of the gradients, or their sum.
  bool use_grad_mean = true;
  /// Steps that do not count. None: all do.
  ShouldSkip should_skip_update_fn = {};
  DType accumulator_dtype = DType::f32;
  STRATA_FIELDS(use_grad_mean, should_skip_update_fn, accumulator_dtype)
};
/// acc = acc + (g - acc) / (n + 1), and `opt` by acc at every k-th step, zeros at the others.
/// State: mini_step, gradient_step, inner_opt_state, acc_grads, skip_state. Deviation: `opt` runs
/// only at the steps that emit, where upstream runs it at each and multiplies by 0, so that its
/// infinities become NaN.
GradientTransformation multi_steps(GradientTransformation opt, EveryK every_k_schedule,
                                   MultiStepsOptions options = {});
/// Whether the last step of a state of `multi_steps` emitted.
Array has_updated(const Tree& state);

}  // namespace strata::optim
