// Line searches, and L-BFGS.
//
//   auto tx = optim::lbfgs();
//   auto value_and_grad = optim::value_and_grad_from_state(loss);
//   auto [value, grads] = value_and_grad(params, state);
//   auto [u, next] = tx.update(grads, state, params,
//                              {.value = value, .grad = grads, .value_fn = loss});
//
// The searches are loops of the traced step. Needs Extra's value, grad and value_fn. Source: Optax.
#pragma once

#include "strata/optim/gradient_transformation.h"
#include "strata/optim/options.h"

namespace strata::optim {

struct BacktrackingOptions {
  strata::internal::Named named = strata::internal::Named();
  double slope_rtol = 1e-4, decrease_factor = 0.8, increase_factor = 1.5, max_learning_rate = 1.0,
         atol = 0.0, rtol = 0.0;
  /// Whether the gradient at the new weights is kept, for value_and_grad_from_state.
  bool store_grad = false;
  STRATA_FIELDS(slope_rtol, decrease_factor, increase_factor, max_learning_rate, atol, rtol,
                store_grad)
};
/// The update times the first of the sizes s, s decrease_factor, ... at which the loss f is at most
/// (1 + rtol) f + s slope_rtol <u, grad> + atol, where s begins at increase_factor times the last
/// one, at most max_learning_rate; 0 where that is nowhere finite. State: learning_rate, value,
/// grad (if stored), info/num_linesearch_steps, info/decrease_error. Source: Armijo (1966).
GradientTransformation scale_by_backtracking_linesearch(std::int64_t max_backtracking_steps,
                                                        BacktrackingOptions options = {});

struct ZoomOptions {
  strata::internal::Named named = strata::internal::Named();
  /// None: no greatest one.
  std::optional<double> max_learning_rate = std::nullopt;
  double tol = 0.0, increase_factor = 2.0, slope_rtol = 1e-4, curv_rtol = 0.9;
  /// Of the approximate condition of decrease; none: the exact one alone.
  std::optional<double> approx_dec_rtol = 1e-6;
  double stepsize_precision = 1e-5;
  /// "keep": the last size; "one": 1.
  std::string initial_guess_strategy = "keep";
  STRATA_FIELDS(max_learning_rate, tol, increase_factor, slope_rtol, curv_rtol, approx_dec_rtol,
                stepsize_precision, initial_guess_strategy)
};
/// The update times a size of sufficient decrease and small slope: an interval is found, then
/// narrowed by cubic and quadratic interpolation and bisection. Where steps run out, the best size
/// of sufficient decrease. State: learning_rate, value, grad, info/num_linesearch_steps,
/// info/decrease_error, info/curvature_error. Source: Nocedal and Wright, Numerical Optimization
/// (1999); Hager and Zhang (2006).
GradientTransformation scale_by_zoom_linesearch(std::int64_t max_linesearch_steps,
                                                ZoomOptions options = {});

/// The loss and its gradient: those that a line search kept in the state, where they are finite,
/// else computed.
std::function<std::pair<Array, Tree>(const Tree& params, const Tree& state)>
value_and_grad_from_state(std::function<Array(const Tree&)> value_fn);

/// Updates by the inverse Hessian that the last memory_size differences tell. State: count, params,
/// updates, diff_params_memory, diff_updates_memory, weights_memory. Throws Error for a memory of
/// none. Source: Liu and Nocedal, On the limited memory BFGS method (1989).
GradientTransformation scale_by_lbfgs(std::int64_t memory_size = 10,
                                      bool scale_init_precond = true);
struct LbfgsOptions {
  strata::internal::Named named = strata::internal::Named();
  std::int64_t memory_size = 10;
  bool scale_init_precond = true;
  /// None: no search.
  std::optional<GradientTransformation> linesearch =
      scale_by_zoom_linesearch(20, {.initial_guess_strategy = "one"});
  STRATA_FIELDS(memory_size, scale_init_precond, linesearch)
};
/// scale_by_lbfgs, the rate or -1, and the line search.
GradientTransformation lbfgs(Rate learning_rate = {}, LbfgsOptions options = {});

}  // namespace strata::optim
