// Adafactor: second moments as a row and a column.
#pragma once

#include "strata/optim/transform/masked.h"

namespace strata::optim {

/// The decay of second moments at step - step_offset, by decay_rate.
using DecayRateFn = std::function<Array(const Array& step, const Rate& decay_rate)>;

struct FactoredRmsOptions {
  strata::internal::Named named = strata::internal::Named();
  bool factored = true;
  Rate decay_rate = 0.8;
  std::int64_t step_offset = 0, min_dim_size_to_factor = 128;
  Rate epsilon = 1e-30;
  /// Empty: 1 - (step + 1)^-decay_rate.
  DecayRateFn decay_rate_fn = {};
  STRATA_FIELDS(factored, decay_rate, step_offset, min_dim_size_to_factor, epsilon, decay_rate_fn)
};
/// Where the second largest axis has min_dim_size_to_factor elements: with q = |g|^2 + epsilon, r
/// and k are q's moving means over the largest and the second largest axis, and the result is
/// g (r / mean(r))^-1/2 k^-1/2; elsewhere g v^-1/2. State: count, v_row, v_col, v, of which the
/// unused ones have one element. Source: Shazeer and Stern, Adafactor (2018).
GradientTransformation scale_by_factored_rms(FactoredRmsOptions options = {});

struct AdafactorOptions {
  strata::internal::Named named = strata::internal::Named();
  std::int64_t min_dim_size_to_factor = 128;
  Rate decay_rate = 0.8;
  std::int64_t decay_offset = 0;
  bool multiply_by_parameter_scale = true;
  /// None: no clipping, no momentum, no decay.
  Rate clipping_threshold = 1.0, momentum = {};
  DType dtype_momentum = DType::f32;
  Rate weight_decay_rate = {}, eps = 1e-30;
  bool factored = true;
  Mask weight_decay_mask = std::nullopt;
  STRATA_FIELDS(min_dim_size_to_factor, decay_rate, decay_offset, multiply_by_parameter_scale,
                clipping_threshold, momentum, dtype_momentum, weight_decay_rate, eps, factored,
                weight_decay_mask)
};
/// scale_by_factored_rms, clip_by_block_rms, the rate, scale_by_param_block_rms, momentum, decay
/// (not times the rate), and the sign.
GradientTransformation adafactor(Rate learning_rate = {}, AdafactorOptions options = {});

}  // namespace strata::optim
