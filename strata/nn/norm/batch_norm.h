// Batch normalisation.
//
//   nn::BatchNorm norm(64, rngs);
//   Array y = norm(x);                                        // by the batch; moves the averages
//   Array z = norm(x, {.use_running_average = true});         // by the averages
//
// In a function that nn::vmap maps with {.axis_name = "batch"}, a norm made with {.axis_name =
// "batch"} takes the moments of all parts of the batch, and its averages stay one.
#pragma once

#include "strata/nn/compiled_visit.h"
#include "strata/nn/norm/statistics.h"

namespace strata::nn {

struct BatchNormOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Whether the averages normalise; none: each call says it.
  std::optional<bool> use_running_average = false;
  /// The axis of features.
  std::int64_t axis = -1;
  double momentum = 0.99, epsilon = 1e-5;
  /// Of the result; none: that in which input, averages and weights meet.
  std::optional<DType> dtype = std::nullopt;
  DType param_dtype = DType::f32;
  bool use_bias = true, use_scale = true;
  Initializer bias_init = initializers::zeros, scale_init = initializers::ones;
  /// Axes of vmap over which means are taken, too, and groups along them.
  std::optional<AxisNames> axis_name = std::nullopt;
  std::vector<std::vector<std::int64_t>> axis_index_groups = {};
  bool use_fast_variance = true;
  Metadata bias_metadata = {}, scale_metadata = {};
};

struct BatchNormCall {
  strata::internal::Named named = strata::internal::Named();
  /// In place of the layer's own.
  std::optional<bool> use_running_average = std::nullopt;
  /// Broadcasts to x; statistics are those of the elements where it is true.
  std::optional<Array> mask = std::nullopt;
};

/// (x - mean) rsqrt(var + epsilon) scale + bias, for each feature; moments are those of the batch
/// (all axes but `axis`, in f32 at least), or the running averages. By the batch the averages move:
/// average <- momentum average + (1 - momentum) moment, without derivative; the variance is the
/// biased one. Result as x, in the dtype in which x, averages (f32) and weights meet. Throws Error
/// where x has another number of features, and where neither the layer nor the call says whether
/// to use the averages. Source: Ioffe and Szegedy, Batch Normalization (2015); Flax NNX's
/// BatchNorm.
struct BatchNorm {
  std::optional<Param> bias, scale;  // (num_features)
  BatchStat mean, var;               // (num_features), f32
  std::int64_t axis = -1;
  double momentum = 0.99, epsilon = 1e-5;
  std::optional<bool> use_running_average = false;
  StatisticsOptions statistics;
  STRATA_FIELDS(bias, scale, mean, var, axis, momentum, epsilon, use_running_average, statistics)

  BatchNorm() = default;
  /// Takes a key of the stream "params" for the scale and one for the bias, where there are these.
  BatchNorm(std::int64_t num_features, Rngs& rngs, const BatchNormOptions& options = {});
  Array operator()(const Array& x, const BatchNormCall& call = {});
  /// By the averages alone. Throws Error where these are not to be used.
  Array operator()(const Array& x, const BatchNormCall& call = {}) const;

 private:
  bool by_averages(const BatchNormCall& call) const;
  Array apply(const Array& x, const BatchNormCall& call, BatchNorm* changed) const;
};

}  // namespace strata::nn

STRATA_COMPILED_VISIT(strata::nn::BatchNorm)
