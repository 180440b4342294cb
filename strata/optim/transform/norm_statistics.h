// Clipping by what gradients' norms were before: no threshold to choose.
//
//   optim::chain(optim::clip_by_norm_quantile(), optim::adamw(1e-3))
#pragma once

#include "strata/optim/gradient_transformation.h"
#include "strata/optim/options.h"

namespace strata::optim {

struct NormQuantileOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Of the norms, between 0 and 1, with linear interpolation between two.
  double quantile = 0.1;
  /// How many norms are remembered.
  std::int64_t history = 1024;
  STRATA_FIELDS(quantile, history)
};
/// Updates whose norm is at most the quantile of the last `history` norms, this one among them: g
/// where it is below, else g / norm quantile. Norms that are not finite are not remembered, and
/// become zeros. State: count, norms. Source: Seetharaman et al., AutoClip (2020). Throws Error for
/// a quantile outside of [0, 1] or a history below 1.
GradientTransformation clip_by_norm_quantile(NormQuantileOptions options = {});

struct NormZScoreOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Of the means of norms and of their squared distances.
  Rate decay = 0.97;
  /// How many standard deviations above the mean are a spike.
  double threshold = 2.5;
  /// Steps that only measure.
  std::int64_t warmup_steps = 25;
  Rate eps = 1e-6;
  STRATA_FIELDS(decay, threshold, warmup_steps, eps)
};
/// z = (norm - mean) / (deviation + eps); where z exceeds the threshold after the warm-up, the norm
/// becomes mean + threshold^2 / z deviation, and that is what the statistics take in. Norms that
/// are not finite change no statistics, and become zeros. State: count, mean, variance. Source:
/// Kumar et al., ZClip (2025). Deviation: means of the warm-up are divided by 1 - decay^t.
GradientTransformation clip_by_norm_zscore(NormZScoreOptions options = {});

}  // namespace strata::optim
