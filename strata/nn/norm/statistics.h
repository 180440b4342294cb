// Mean and variance over axes, and normalisation by them: what the norms share.
//
//   Moments m = moments(x, {0, 1}, options);
//   Array y = normalize(x, m, scale, bias, {.reduction_axes = {0, 1}, .feature_axes = {2}});
//
// Source: flax/nnx/nn/normalization.py (0.12.8).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/api/initializers.h"
#include "strata/api/lax/parallel.h"
#include "strata/nn/random/rngs.h"

namespace strata::nn {

/// How a norm forms its statistics; static data of its struct.
struct StatisticsOptions {
  strata::internal::Named named = strata::internal::Named();
  /// The dtype of the result (none: that in which input and weights meet). Statistics are formed in
  /// f32 at least.
  std::optional<DType> dtype = std::nullopt;
  /// E[|x|^2] - |E[x]|^2 instead of E[|x - E[x]|^2].
  bool use_fast_variance = true;
  /// Means are taken over these axes of vmap, too; and over which groups along them.
  std::vector<std::string> axis_name = {};
  std::vector<std::vector<std::int64_t>> axis_index_groups = {};
  /// As a structure has it.
  std::string static_text() const;
};

/// Mean and variance over some axes, which are gone.
struct Moments {
  Array mean, var;
  STRATA_FIELDS(mean, var)
};
/// Moments of x over `axes` (non-negative, increasing), of the elements where `mask`, which
/// broadcasts to x, is true. In promote(dtype or x's, f32); a variance below 0 is 0. Without
/// `use_mean` the mean is 0 and the variance E[|x|^2].
Moments moments(const Array& x, const std::vector<std::int64_t>& axes,
                const StatisticsOptions& options, const std::optional<Array>& mask = {},
                bool use_mean = true);

/// Where the values stand that normalize needs.
struct NormalizeOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Axes of x along which moments are the same, and axes that the weights have; non-negative.
  std::vector<std::int64_t> reduction_axes, feature_axes;
  double epsilon = 1e-6;
  /// Of the result; none: x's.
  std::optional<DType> dtype = std::nullopt;
};
/// (x - mean) (rsqrt(var + epsilon) scale) + bias. A scale or bias without a value is left out.
Array normalize(const Array& x, const Moments& moments, const Array& scale, const Array& bias,
                const NormalizeOptions& options);

/// Axes of an option. Throws Error in the name of `layer` where they are left out.
std::vector<std::int64_t> given_axes(const char* layer, const Axes& axes);
/// Axes as non-negative numbers in increasing order, each once. Throws Error in the name of `layer`
/// for one that x has not.
std::vector<std::int64_t> norm_axes(const char* layer, const std::vector<std::int64_t>& axes,
                                    const Array& x);
/// Throws Error in the name of `layer` where x has another number of features along these axes than
/// a weight, called `what`, has. A weight without a value fits.
void check_features(const char* layer, const Array& x, const std::vector<std::int64_t>& axes,
                    const char* what, const Array& weight);
/// The variable as an array, without a value where there is none.
inline Array value_or_none(const std::optional<Param>& variable) {
  return variable ? Array(*variable) : Array();
}

/// What a norm's call is told beside its input.
struct NormCall {
  strata::internal::Named named = strata::internal::Named();
  /// Broadcasts to x; statistics are those of the elements where it is true.
  std::optional<Array> mask = std::nullopt;
};

namespace detail {
/// Statistics as a norm's options say them.
template <class Options>
StatisticsOptions statistics_of(const Options& o) {
  return {.dtype = o.dtype,
          .use_fast_variance = o.use_fast_variance,
          .axis_name = o.axis_name ? o.axis_name->get() : std::vector<std::string>(),
          .axis_index_groups = o.axis_index_groups};
}
/// First values of a norm's weights; each takes a key, also where it does not look at it.
template <class Options>
std::optional<Param> scale_of(const Options& o, std::int64_t features, Rngs& rngs) {
  if (!o.use_scale) return {};
  return Param(o.scale_init(rngs("params"), {features}, o.param_dtype), o.scale_metadata);
}
template <class Options>
std::optional<Param> bias_of(const Options& o, std::int64_t features, Rngs& rngs) {
  if (!o.use_bias) return {};
  return Param(o.bias_init(rngs("params"), {features}, o.param_dtype), o.bias_metadata);
}
}  // namespace detail

}  // namespace strata::nn

template <>
inline constexpr bool strata::tree::is_static<strata::nn::StatisticsOptions> = true;
