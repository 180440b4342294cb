// Normalisation of each feature of each example.
//
//   nn::InstanceNorm norm(3, rngs);
//   Array y = norm(x);      // (batch, height, width, 3)
#pragma once

#include "strata/nn/compiled_visit.h"
#include "strata/nn/norm/statistics.h"

namespace strata::nn {

struct InstanceNormOptions {
  strata::internal::Named named = strata::internal::Named();
  double epsilon = 1e-6;
  /// Of the result; none: that in which input and weights meet.
  std::optional<DType> dtype = std::nullopt;
  DType param_dtype = DType::f32;
  bool use_bias = true, use_scale = true;
  Initializer bias_init = initializers::zeros, scale_init = initializers::ones;
  /// Axes of features, not 0; over the others but 0 moments are taken.
  Axes feature_axes = -1;
  /// Axes of vmap over which means are taken, too, and groups along them.
  std::optional<AxisNames> axis_name = std::nullopt;
  std::vector<std::vector<std::int64_t>> axis_index_groups = {};
  bool use_fast_variance = true;
  Metadata bias_metadata = {}, scale_metadata = {};
};

/// (x - mean) rsqrt(var + epsilon) scale + bias; moments are those of a feature of an example, in
/// f32 at least. x: (batch, ...), result as x, in the dtype in which x and the weights meet. Throws
/// Error where a feature axis is the batch's or x has it not, and where the sizes of the feature
/// axes do not multiply to `num_features`. Source: Ulyanov et al., Instance Normalization (2016);
/// Flax NNX's InstanceNorm.
struct InstanceNorm {
  std::optional<Param> bias, scale;  // (num_features)
  double epsilon = 1e-6;
  std::vector<std::int64_t> feature_axes = {-1};
  StatisticsOptions statistics;
  STRATA_FIELDS(bias, scale, epsilon, feature_axes, statistics)

  InstanceNorm() = default;
  /// Takes a key of the stream "params" for the scale and one for the bias, where there are these.
  InstanceNorm(std::int64_t num_features, Rngs& rngs, const InstanceNormOptions& options = {});
  Array operator()(const Array& x, const NormCall& call = {}) const;
};

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::InstanceNorm)
