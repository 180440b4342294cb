// Adam as Pax and MaxText's opt_type=adam_pax have it.
//
//   optim::adam_pax(1e-3, {.b2 = 0.95, .weight_decay = 0.1})
#pragma once

#include "strata/optim/transform/masked.h"

namespace strata::optim {

struct ScaleByAdamPaxOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.95;
  /// Outside of the root, and inside.
  Rate eps = 1e-8, eps_root = 0.0;
  STRATA_FIELDS(b1, b2, eps, eps_root)
};
/// m = (1 - d1) g + d1 m, v = (1 - d2) g^2 + d2 v, result m / (sqrt(v + eps_root) + eps), where d =
/// b (1 - b^(t-1)) / (1 - b^t) at step t = 1, 2, ...: moments that need no correction. Both are of
/// the parameters' dtype. State: count, mu, nu. Source: praxis, optimizers.py (sharded_adam);
/// Shazeer and Stern, Adafactor (2018), 7.1.
GradientTransformation scale_by_adam_pax(ScaleByAdamPaxOptions options = {});

struct AdamPaxOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate b1 = 0.9, b2 = 0.95, eps = 1e-8, eps_root = 0.0, weight_decay = 0.1;
  /// The weights that decay; none: all.
  Mask mask = std::nullopt;
  STRATA_FIELDS(b1, b2, eps, eps_root, weight_decay, mask)
};
/// scale_by_adam_pax, add_decayed_weights and the rate, all by one count: its state is that of
/// scale_by_adam_pax alone. Source: AI-Hypercomputer/maxtext 0.2.5, optimizers/optimizers.py
/// (adam_pax); defaults are MaxText's.
GradientTransformation adam_pax(Rate learning_rate, AdamPaxOptions options = {});

}  // namespace strata::optim
