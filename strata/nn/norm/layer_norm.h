// Layer normalisation.
//
//   nn::LayerNorm norm(256, rngs);
//   Array y = norm(x);      // (..., 256), each row of mean 0 and variance 1, then scaled and moved
#pragma once

#include "strata/nn/compiled_visit.h"
#include "strata/nn/norm/statistics.h"

namespace strata::nn {

struct LayerNormOptions {
  strata::internal::Named named = strata::internal::Named();
  double epsilon = 1e-6;
  /// Of the result; none: that in which input and weights meet.
  std::optional<DType> dtype = std::nullopt;
  DType param_dtype = DType::f32;
  bool use_bias = true, use_scale = true;
  Initializer bias_init = initializers::zeros, scale_init = initializers::ones;
  /// Axes over which mean and variance are taken; axes that scale and bias have.
  Axes reduction_axes = -1, feature_axes = -1;
  /// Axes of vmap over which means are taken, too, and groups along them.
  std::optional<AxisNames> axis_name = std::nullopt;
  std::vector<std::vector<std::int64_t>> axis_index_groups = {};
  bool use_fast_variance = true;
  Metadata bias_metadata = {}, scale_metadata = {};
};

/// (x - mean) rsqrt(var + epsilon) scale + bias, moments over the reduction axes in f32 at least.
/// Result as x, in the dtype in which x and the weights meet. Throws Error for axes that x has not,
/// and where the sizes of the feature axes do not multiply to `num_features`. Source: Ba et al.,
/// Layer Normalization (2016); Flax NNX's LayerNorm.
struct LayerNorm {
  std::optional<Param> bias, scale;  // (num_features)
  double epsilon = 1e-6;
  std::vector<std::int64_t> reduction_axes = {-1}, feature_axes = {-1};
  StatisticsOptions statistics;
  STRATA_FIELDS(bias, scale, epsilon, reduction_axes, feature_axes, statistics)

  LayerNorm() = default;
  /// Takes a key of the stream "params" for the scale and one for the bias, where there are these.
  LayerNorm(std::int64_t num_features, Rngs& rngs, const LayerNormOptions& options = {});
  Array operator()(const Array& x, const NormCall& call = {}) const;
};

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::LayerNorm)
