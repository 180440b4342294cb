// Contributed rules that find their own rate: D-Adaptation, Prodigy, DoG, DoWG, MoMo.
#pragma once

#include "strata/optim/transform/masked.h"

namespace strata::optim::contrib {

struct DadaptAdamwOptions {
  strata::internal::Named named = strata::internal::Named();
  std::vector<double> betas = {0.9, 0.999};
  Rate eps = 1e-8, estim_lr0 = 1e-6, weight_decay = 0.0;
  STRATA_FIELDS(betas, eps, estim_lr0, weight_decay)
};
/// AdamW whose rate is the learning rate times an estimate of the distance to the solution. State:
/// exp_avg, exp_avg_sq, grad_sum, estim_lr, numerator_weighted, count. Source: Defazio and
/// Mishchenko, Learning-Rate-Free Learning by D-Adaptation (2023). As upstream, the new estimate
/// holds from the next step on.
GradientTransformation dadapt_adamw(Rate learning_rate = 1.0, DadaptAdamwOptions options = {});

struct ProdigyOptions {
  strata::internal::Named named = strata::internal::Named();
  std::vector<double> betas = {0.9, 0.999};
  /// None: the root of the second of them.
  Rate beta3 = {}, eps = 1e-8, estim_lr0 = 1e-6, estim_lr_coef = 1.0, weight_decay = 0.0;
  bool safeguard_warmup = false;
  STRATA_FIELDS(betas, beta3, eps, estim_lr0, estim_lr_coef, weight_decay, safeguard_warmup)
};
/// The same with gradients weighted by the estimate. State: exp_avg, exp_avg_sq, grad_sum, params0,
/// estim_lr, numerator_weighted, count. Source: Mishchenko and Defazio, Prodigy (2024).
GradientTransformation prodigy(Rate learning_rate = 1.0, ProdigyOptions options = {});

/// How DoG begins: "distance" and the distance, "learning_rate" and the first rate, "heuristic" and
/// a factor of 1 + |p|.
struct InitStep {
  std::string type = "heuristic";
  double value = 1e-6;
};
/// A pair of a kind and a number.
void read(const Option& given, const std::string& where, InitStep& into);
/// The setting as messages have it: "heuristic 1e-06".
std::string text_of(const InitStep& value);
/// g times the greatest distance from the start over the root of the sum of squared norms. State:
/// is_init_step, init_params, max_dist, sum_sq_norm_grads. Throws Error for another kind of
/// beginning. Source: Ivgi et al., DoG is SGD's Best Friend (2023).
GradientTransformation scale_by_dog(InitStep init_step = {}, Rate eps = 1e-8);
struct DogOptions {
  strata::internal::Named named = strata::internal::Named();
  InitStep init_step = {};
  /// None: no decay.
  Rate eps = 1e-8, weight_decay = {};
  Mask mask = std::nullopt;
  STRATA_FIELDS(init_step, eps, weight_decay, mask)
};
/// Decay, scale_by_dog and the rate.
GradientTransformation dog(Rate learning_rate = 1.0, DogOptions options = {});

/// With r^2 the greatest squared distance from the start: g r^2 / (sqrt(sum of r^2 |g|^2) + eps).
/// State: init_params, weighted_sq_norm_grads, estim_sq_dist. Source: Khaled et al., DoWG Unleashed
/// (2023).
GradientTransformation scale_by_dowg(Rate init_estim_sq_dist = {}, Rate eps = 1e-4);
struct DowgOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate init_estim_sq_dist = {}, eps = 1e-4, weight_decay = {};
  Mask mask = std::nullopt;
  STRATA_FIELDS(init_estim_sq_dist, eps, weight_decay, mask)
};
/// Decay, scale_by_dowg and the rate.
GradientTransformation dowg(Rate learning_rate = 1.0, DowgOptions options = {});

struct MomoOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate beta = 0.9, lower_bound = 0.0, weight_decay = 0.0;
  bool adapt_lower_bound = false;
  STRATA_FIELDS(beta, lower_bound, weight_decay, adapt_lower_bound)
};
/// Momentum with the step size of a model of the loss, at most the rate. Needs Extra's value.
/// State: exp_avg, barf, gamma, lb, count. Source: Schaipp et al., MoMo: Momentum Models for
/// Adaptive Learning Rates (2023).
GradientTransformation momo(Rate learning_rate = 1.0, MomoOptions options = {});
struct MomoAdamOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.999, eps = 1e-8, lower_bound = 0.0, weight_decay = 0.0;
  bool adapt_lower_bound = false;
  STRATA_FIELDS(b1, b2, eps, lower_bound, weight_decay, adapt_lower_bound)
};
/// The same in Adam's norm. State: exp_avg, exp_avg_sq, barf, gamma, lb, count.
GradientTransformation momo_adam(Rate learning_rate = 0.01, MomoAdamOptions options = {});

}  // namespace strata::optim::contrib
