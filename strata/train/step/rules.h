// AdamW and SGD as runs have them.
//
//   optim::GradientTransformation rule = train::adamw(3e-4, {.weight_decay = 0.1});
//
// They differ from optim's of the same names in the last bits, so that a run has the bits that it
// had before the trainer took any rule: AdamW's moments are f32 whatever gradients and weights are,
// and are multiplied by the inverse of their bias correction, one number for all, where Optax
// divides each element; SGD's rate is f32, where Optax rounds it to the gradients' dtype. Paths of
// their states are Optax's: 0/count, 0/mu/..., 0/nu/..., 2/count; 1/count.
#pragma once

#include "strata/optim/transform/masked.h"

namespace strata::train {

/// MaxText's defaults.
struct AdamWOptions {
  double b1 = 0.9, b2 = 0.95, eps = 1e-8, weight_decay = 0.1;
  /// The weights that decay; none: all.
  optim::Mask mask = std::nullopt;
  /// Added inside the root.
  double eps_root = 0;
};
/// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, then m / (1 - b1^t) / (sqrt(v / (1 - b2^t) +
/// eps_root) + eps) + weight_decay p, times minus the rate, which counts from 0. Source: Loshchilov
/// and Hutter, Decoupled Weight Decay Regularization (2019).
optim::GradientTransformation adamw(optim::Schedule rate, AdamWOptions options = {});

/// Minus the rate times the gradients, in their dtype.
optim::GradientTransformation sgd(optim::Schedule rate);

}  // namespace strata::train
