// Normalisation of groups of features.
//
//   nn::GroupNorm norm(64, rngs, {.num_groups = 8});
//   Array y = norm(x);      // (batch, ..., 64)
#pragma once

#include "strata/nn/compiled_visit.h"
#include "strata/nn/norm/statistics.h"

namespace strata::nn {

struct GroupNormOptions {
  strata::internal::Named named = strata::internal::Named();
  /// One of the two: how many groups there are (32 where neither is given), or how large each is.
  std::optional<std::int64_t> num_groups = std::nullopt, group_size = std::nullopt;
  double epsilon = 1e-6;
  /// Of the result; none: that in which input and weights meet.
  std::optional<DType> dtype = std::nullopt;
  DType param_dtype = DType::f32;
  bool use_bias = true, use_scale = true;
  Initializer bias_init = initializers::zeros, scale_init = initializers::ones;
  /// Axes over which moments are taken, the last among them; none: all but the first.
  std::optional<Axes> reduction_axes = std::nullopt;
  /// Axes of vmap over which means are taken, too, and groups along them.
  std::optional<AxisNames> axis_name = std::nullopt;
  std::vector<std::vector<std::int64_t>> axis_index_groups = {};
  bool use_fast_variance = true;
  Metadata bias_metadata = {}, scale_metadata = {};
};

/// (x - mean) rsqrt(var + epsilon) scale + bias; moments are those of a group of features over the
/// reduction axes, in f32 at least. x: (batch, ..., C), result as x, in the dtype in which x and
/// the weights meet. A mask's last axis is C or 1. Throws Error where groups do not divide the
/// features, for axes that x has not, and where x has another number of features. Source: Wu and
/// He, Group Normalization (2018); Flax NNX's GroupNorm. Deviations: a count and a size of groups
/// are both none by default, and upstream repeats moments along axis 1, which fits one axis before
/// the groups' only.
struct GroupNorm {
  std::optional<Param> bias, scale;  // (C)
  std::int64_t num_groups = 32, group_size = 1;
  double epsilon = 1e-6;
  std::optional<std::vector<std::int64_t>> reduction_axes;
  StatisticsOptions statistics;
  STRATA_FIELDS(bias, scale, num_groups, group_size, epsilon, reduction_axes, statistics)

  GroupNorm() = default;
  /// Takes a key of the stream "params" for the scale and one for the bias, where there are these.
  GroupNorm(std::int64_t num_features, Rngs& rngs, const GroupNormOptions& options = {});
  Array operator()(const Array& x, const NormCall& call = {}) const;
};

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::GroupNorm)
