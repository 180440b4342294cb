// Stochastic gradient descent, by gradients, their signs, or with noise.
//
//   optim::sgd(0.1, {.momentum = 0.9, .nesterov = true})
#pragma once

#include "strata/optim/gradient_transformation.h"
#include "strata/optim/options.h"

namespace strata::optim {

struct SgdOptions {
  strata::internal::Named named = strata::internal::Named();
  /// None: no trace is kept.
  Rate momentum = {};
  bool nesterov = false;
  std::optional<DType> accumulator_dtype = std::nullopt;
  STRATA_FIELDS(momentum, nesterov, accumulator_dtype)
};
/// Minus the rate times the gradients, or their trace.
GradientTransformation sgd(Rate learning_rate, SgdOptions options = {});

/// sign(g)
GradientTransformation scale_by_sign();
/// Minus the rate times the sign. Source: Bernstein et al., signSGD (2018).
GradientTransformation sign_sgd(Rate learning_rate);
/// The sign of the mean with decay beta. Source: Bernstein et al., signSGD (2018).
GradientTransformation signum(Rate learning_rate, Rate beta = 0.9,
                              std::optional<DType> accumulator_dtype = {});
/// g + sqrt(eta / t^gamma) normal. State: count, rng_key. Source: Neelakantan et al., Adding
/// Gradient Noise Improves Learning (2015).
GradientTransformation add_noise(Rate eta, Rate gamma, random::Key key = random::key(0));
/// add_noise and the rate.
GradientTransformation noisy_sgd(Rate learning_rate, Rate eta = 0.01, Rate gamma = 0.55,
                                 random::Key key = random::key(0));

/// (alpha + beta) g - beta g_before, of the first step g_before = g. State: is_initial_step,
/// previous_gradient. Source: Mokhtari et al., A Unified Analysis of Extra-gradient and Optimistic
/// Gradient Methods (2019).
GradientTransformation scale_by_optimistic_gradient(Rate alpha = 1.0, Rate beta = 1.0);
/// scale_by_optimistic_gradient and the rate.
GradientTransformation optimistic_gradient_descent(Rate learning_rate, Rate alpha = 1.0,
                                                   Rate beta = 1.0);
struct OptimisticAdamOptions {
  strata::internal::Named named = strata::internal::Named();
  /// None: the rate.
  Rate optimism = {}, b1 = 0.9, b2 = 0.999, eps = 1e-8, eps_root = 0.0;
  std::optional<DType> mu_dtype = std::nullopt;
  bool nesterov = true;
  STRATA_FIELDS(optimism, b1, b2, eps, eps_root, mu_dtype, nesterov)
};
/// Adam, then the optimistic gradient by the rate itself. Source: Daskalakis et al., Training GANs
/// with Optimism (2017). Upstream prefers the form that follows.
GradientTransformation optimistic_adam(Rate learning_rate, OptimisticAdamOptions options = {});
struct OptimisticAdamV2Options {
  strata::internal::Named named = strata::internal::Named();
  Rate alpha = 1.0, beta = 1.0, b1 = 0.9, b2 = 0.999, eps = 1e-8, eps_root = 0.0;
  std::optional<DType> mu_dtype = std::nullopt;
  bool nesterov = true;
  STRATA_FIELDS(alpha, beta, b1, b2, eps, eps_root, mu_dtype, nesterov)
};
/// Adam, the optimistic gradient, the rate.
GradientTransformation optimistic_adam_v2(Rate learning_rate, OptimisticAdamV2Options options = {});

}  // namespace strata::optim
