// An affine layer.
//
//   nn::Linear layer = nn::Linear::init(key, 256, 128);
//   Array y = layer(x);      // (..., 256) -> (..., 128)
#pragma once

#include <optional>

#include "strata/api/initializers.h"

namespace strata::nn {

struct LinearOptions {
  internal::Named named = internal::Named();
  bool use_bias = true;
  Initializer kernel_init = initializers::lecun_normal();
  Initializer bias_init = initializers::zeros;
  DType param_dtype = DType::f32;
};

/// x kernel + bias: x (..., I), result (..., O), in the dtype in which x and the weights meet.
/// Source: Flax NNX's Linear, whose names these are.
struct Linear {
  Array kernel;               // (I, O)
  std::optional<Array> bias;  // (O)
  STRATA_FIELDS(kernel, bias)

  /// Weights drawn by a key; the bias, unless left out, by `bias_init`.
  static Linear init(const Array& key, std::int64_t in_features, std::int64_t out_features,
                     const LinearOptions& options = {});
  Array operator()(const Array& x) const;
};

}  // namespace strata::nn
