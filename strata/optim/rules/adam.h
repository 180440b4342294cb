// Adam and AdamW, plain and with Nesterov's momentum.
//
//   optim::adamw(1e-3, {.weight_decay = 0.1, .mask = !tree::path("**/bias")})
//   optim::adam(optim::cosine_decay_schedule(1e-3, 1000))
#pragma once

#include "strata/optim/transform/masked.h"

namespace strata::optim {

struct AdamOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.999;
  /// Outside of the root, and inside.
  Rate eps = 1e-8, eps_root = 0.0;
  /// Of the first moment; none: as dtypes promote.
  std::optional<DType> mu_dtype = std::nullopt;
  bool nesterov = false;
  STRATA_FIELDS(b1, b2, eps, eps_root, mu_dtype, nesterov)
};
/// m = (1 - b1) g + b1 m, v = (1 - b2) |g|^2 + b2 v, result m' / (sqrt(v' + eps_root) + eps), where
/// m' and v' are divided by 1 - b^t; with `nesterov` m' is b1 m / (1 - b1^(t+1)) + (1 - b1) g /
/// (1 - b1^t). State: count, mu, nu. Source: Kingma and Ba, Adam (2015); Dozat, Incorporating
/// Nesterov Momentum into Adam (2016).
GradientTransformation scale_by_adam(AdamOptions options = {});
/// scale_by_adam and the rate.
GradientTransformation adam(Rate learning_rate, AdamOptions options = {});
/// adam with Nesterov's momentum.
GradientTransformation nadam(Rate learning_rate, AdamOptions options = {});

struct AdamWOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.999, eps = 1e-8, eps_root = 0.0;
  std::optional<DType> mu_dtype = std::nullopt;
  Rate weight_decay = 1e-4;
  /// The weights that decay; none: all.
  Mask mask = std::nullopt;
  bool nesterov = false;
  STRATA_FIELDS(b1, b2, eps, eps_root, mu_dtype, weight_decay, mask, nesterov)
};
/// scale_by_adam, add_decayed_weights and the rate. Source: Loshchilov and Hutter, Decoupled Weight
/// Decay Regularization (2019).
GradientTransformation adamw(Rate learning_rate, AdamWOptions options = {});
/// adamw with Nesterov's momentum.
GradientTransformation nadamw(Rate learning_rate, AdamWOptions options = {});

}  // namespace strata::optim
