// Rules that scale each leaf as a whole.
#pragma once

#include "strata/optim/transform/masked.h"

namespace strata::optim {

struct TrustRatioOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate min_norm = 0.0, trust_coefficient = 1.0, eps = 0.0;
  STRATA_FIELDS(min_norm, trust_coefficient, eps)
};
/// g trust_coefficient |p| / (|g| + eps), with norms of at least min_norm; g where one is 0.
/// Source: You et al., Large Batch Training of Convolutional Networks (2017).
GradientTransformation scale_by_trust_ratio(TrustRatioOptions options = {});
/// g max(|p|, min_scale)
GradientTransformation scale_by_param_block_norm(Rate min_scale = 1e-3);
/// g max(rms(p), min_scale). Source: Shazeer and Stern, Adafactor (2018).
GradientTransformation scale_by_param_block_rms(Rate min_scale = 1e-3);

struct LarsOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate weight_decay = 0.0;
  tree::Filter weight_decay_mask = tree::everything();
  Rate trust_coefficient = 1e-3, eps = 0.0;
  tree::Filter trust_ratio_mask = tree::everything();
  Rate momentum = 0.9;
  bool nesterov = false;
  STRATA_FIELDS(weight_decay, weight_decay_mask, trust_coefficient, eps, trust_ratio_mask, momentum,
                nesterov)
};
/// Decay, trust ratio, rate, then the trace. Source: You et al., Large Batch Training of
/// Convolutional Networks (2017).
GradientTransformation lars(Rate learning_rate, LarsOptions options = {});
/// With k = 1 / sqrt(1 + rate^2): trust ratio, the rate times k, decay by k - 1. Source: Bernstein
/// et al., On the distance between two neural networks and the stability of learning (2020).
GradientTransformation fromage(Rate learning_rate, Rate min_norm = 1e-6);

/// Rank above 1: g minus its mean over all axes but the first. Source: Yong et al., Gradient
/// Centralization (2020).
GradientTransformation centralize();
/// g / ((norm of all + eps) / scale_factor)
GradientTransformation normalize_by_update_norm(Rate scale_factor = 1.0, Rate eps = 1e-6);

struct DistanceOverGradientsOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate reps_rel = 1e-6, eps = 1e-8;
  DType param_dtype = DType::f32;
  Rate global_scale = 1.0;
  STRATA_FIELDS(reps_rel, eps, param_dtype, global_scale)
};
/// g times the largest distance from the start over the root of the sum of squares, leaf by leaf.
/// State: max_dist, grad_sum_of_squares, init_params. Source: Ivgi et al., DoG (2023).
GradientTransformation scale_by_distance_over_gradients(DistanceOverGradientsOptions options = {});

}  // namespace strata::optim
