// Normalisation layers.
#pragma once

#include "strata/api/initializers.h"

namespace strata::nn {

/// x / sqrt(mean(x^2) + epsilon) * weight over the last axis. x: (..., D), weight: (D). Computed in
/// f32 (f64 for f64), the quotient rounded to x's dtype before the weight is applied, as MaxText's
/// RMSNorm does (Flax's rounds after it). Source: Zhang and Sennrich, Root Mean Square Layer
/// Normalization (2019).
Array rms_norm(const Array& x, const Array& weight, double epsilon = 1e-5);

/// rms_norm as a layer; `scale` and `epsilon` as in Flax NNX's RMSNorm.
struct RMSNorm {
  Array scale;  // (D)
  double epsilon = 1e-6;
  STRATA_FIELDS(scale, epsilon)

  /// Scales for so many features, ones unless given otherwise.
  static RMSNorm init(const Array& key, std::int64_t num_features, double epsilon = 1e-6,
                      const Initializer& scale_init = initializers::ones,
                      DType param_dtype = DType::f32);
  Array operator()(const Array& x) const { return rms_norm(x, scale, epsilon); }
};

}  // namespace strata::nn
