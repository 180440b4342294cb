// Normalisation by the root of the mean square.
//
//   nn::RMSNorm norm(256, rngs);                               // Flax NNX's
//   nn::RMSNorm norm = nn::RMSNorm::init(key, 256, 1e-5);      // MaxText's
//   Array y = norm(x);
#pragma once

#include "strata/nn/compiled_visit.h"
#include "strata/nn/norm/statistics.h"

namespace strata::nn {

/// x / sqrt(mean(x^2) + epsilon) * weight over the last axis. x: (..., D), weight: (D). Computed in
/// f32 (f64 for f64), the quotient rounded to x's dtype before the weight is applied, as MaxText's
/// RMSNorm does (Flax's rounds after it). Source: Zhang and Sennrich, Root Mean Square Layer
/// Normalization (2019).
Array rms_norm(const Array& x, const Array& weight, double epsilon = 1e-5);

struct RMSNormOptions {
  strata::internal::Named named = strata::internal::Named();
  double epsilon = 1e-6;
  /// Of the result; none: that in which input and scale meet.
  std::optional<DType> dtype = std::nullopt;
  DType param_dtype = DType::f32;
  bool use_scale = true;
  Initializer scale_init = initializers::ones;
  /// Axes over which the mean is taken; axes that the scale has.
  Axes reduction_axes = -1, feature_axes = -1;
  /// Axes of vmap over which the mean is taken, too, and groups along them.
  std::optional<AxisNames> axis_name = std::nullopt;
  std::vector<std::vector<std::int64_t>> axis_index_groups = {};
  /// Has no effect, as upstream: no mean is subtracted.
  bool use_fast_variance = true;
  Metadata scale_metadata = {};
};

/// x rsqrt(mean(x^2) + epsilon) scale, the mean over the reduction axes in f32 at least. Result as
/// x, in the dtype in which x and the scale meet, rounded behind the scale. Throws Error for axes
/// that x has not, and where the sizes of the feature axes do not multiply to `num_features`.
/// Source: Flax NNX's RMSNorm. One that is made by `init` or from a scale is MaxText's: rms_norm.
struct RMSNorm {
  std::optional<Param> scale;  // (num_features)
  double epsilon = 1e-6;
  /// As rms_norm, over the last axis.
  bool round_before_scale = false;
  std::vector<std::int64_t> reduction_axes = {-1}, feature_axes = {-1};
  StatisticsOptions statistics;
  STRATA_FIELDS(scale, epsilon, round_before_scale, reduction_axes, feature_axes, statistics)

  RMSNorm() = default;
  /// Takes a key of the stream "params" where there is a scale.
  RMSNorm(std::int64_t num_features, Rngs& rngs, const RMSNormOptions& options = {});
  /// rms_norm with this weight.
  explicit RMSNorm(Param scale, double epsilon = 1e-6);
  /// rms_norm with a weight of ones.
  static RMSNorm init(const Array& key, std::int64_t num_features, double epsilon = 1e-6,
                      const Initializer& scale_init = initializers::ones,
                      DType param_dtype = DType::f32);
  Array operator()(const Array& x, const NormCall& call = {}) const;
};

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::RMSNorm)
