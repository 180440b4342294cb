// Rules by sums or means of squared gradients, and by signs of them.
#pragma once

#include "strata/optim/transform/masked.h"

namespace strata::optim {

/// s = s + |g|^2; g / sqrt(s + eps), 0 where s is 0. State: sum_of_squares. Source: Duchi et al.,
/// Adaptive Subgradient Methods (2011).
GradientTransformation scale_by_rss(Rate initial_accumulator_value = 0.1, Rate eps = 1e-7);
/// scale_by_rss and the rate.
GradientTransformation adagrad(Rate learning_rate, Rate initial_accumulator_value = 0.1,
                               Rate eps = 1e-7);

struct RmsOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate decay = 0.9, eps = 1e-8, initial_scale = 0.0;
  bool eps_in_sqrt = true, bias_correction = false;
  STRATA_FIELDS(decay, eps, initial_scale, eps_in_sqrt, bias_correction)
};
/// v = (1 - decay) |g|^2 + decay v; g / sqrt(v + eps), or with eps outside g / (sqrt(v) + eps).
/// State: nu, and before it count with `bias_correction`. Source: Tieleman and Hinton, RMSProp
/// (2012).
GradientTransformation scale_by_rms(RmsOptions options = {});
/// The same by v - |m|^2. State: mu, nu, and before them count with `bias_correction`. Source:
/// Graves, Generating Sequences With Recurrent Neural Networks (2013).
GradientTransformation scale_by_stddev(RmsOptions options = {});
struct RmspropOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate decay = 0.9, eps = 1e-8, initial_scale = 0.0;
  bool eps_in_sqrt = true, centered = false;
  /// None: no trace behind the rate.
  Rate momentum = {};
  bool nesterov = false, bias_correction = false;
  STRATA_FIELDS(decay, eps, initial_scale, eps_in_sqrt, centered, momentum, nesterov,
                bias_correction)
};
/// scale_by_rms, or centred scale_by_stddev; the rate; then the trace.
GradientTransformation rmsprop(Rate learning_rate, RmspropOptions options = {});

/// e = (1 - rho) g^2 + rho e; u = sqrt(x + eps) / sqrt(e + eps) g; x = (1 - rho) u^2 + rho x.
/// State: e_g, e_x. Source: Zeiler, ADADELTA (2012).
GradientTransformation scale_by_adadelta(Rate rho = 0.9, Rate eps = 1e-6);
struct AdadeltaOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate rho = 0.9, eps = 1e-6, weight_decay = 0.0;
  Mask weight_decay_mask = std::nullopt;
  STRATA_FIELDS(rho, eps, weight_decay, weight_decay_mask)
};
/// Decay, scale_by_adadelta and the rate, if any.
GradientTransformation adadelta(Rate learning_rate = {}, AdadeltaOptions options = {});

struct RpropOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate eta_minus = 0.5, eta_plus = 1.2, min_step_size = 1e-6, max_step_size = 50.0;
  STRATA_FIELDS(eta_minus, eta_plus, min_step_size, max_step_size)
};
/// Step sizes grow where the sign of g stays and shrink where it turns, within bounds; the result
/// is the step before this one, 0 where the sign turned, as upstream: one late. State: step_sizes,
/// prev_updates. Source: Riedmiller and Braun (1993).
GradientTransformation scale_by_rprop(Rate learning_rate, RpropOptions options = {});
/// Minus scale_by_rprop.
GradientTransformation rprop(Rate learning_rate, RpropOptions options = {});

/// a = g^2 + the least over axes of mu (with b2 below 1: (1 - b2) g^2 + b2 of it); u = the mean
/// with decay b1 of g / sqrt(a + eps), 0 where a is 0; mu of an axis is the greatest a over the
/// others. State: mu (an array for each axis of a leaf), nu. Throws Error for complex weights.
/// Source: Anil et al., Memory-Efficient Adaptive Optimization (2019).
GradientTransformation scale_by_sm3(Rate b1 = 0.9, Rate b2 = 1.0, Rate eps = 1e-8);
/// scale_by_sm3 with momentum as b1, and the rate, which is no schedule.
GradientTransformation sm3(Rate learning_rate, Rate momentum = 0.9);

}  // namespace strata::optim
