// Polyak's step size, from the loss and the size of its gradient.
#pragma once

#include "strata/optim/gradient_transformation.h"
#include "strata/optim/options.h"

namespace strata::optim {

struct PolyakOptions {
  strata::internal::Named named = strata::internal::Named();
  /// The least that the loss may be; the greatest step.
  Rate f_min = 0.0, max_learning_rate = 1.0, eps = 0.0;
  /// "sps", or "sps+", which takes a loss below f_min as f_min.
  std::string variant = "sps";
  STRATA_FIELDS(f_min, max_learning_rate, eps, variant)
};
/// g min((value - f_min) / (|g|^2 + eps), max_learning_rate), 0 where |g|^2 + eps is below f64's
/// epsilon. Needs Extra's value. Source: Loizou et al., Stochastic Polyak Step-size for SGD (2021);
/// Berrada et al., ALI-G (2020).
GradientTransformation scale_by_polyak(PolyakOptions options = {});

struct PolyakSgdOptions {
  strata::internal::Named named = strata::internal::Named();
  Rate max_learning_rate = 1.0, scaling = 1.0, f_min = 0.0, eps = 0.0;
  std::string variant = "sps";
  STRATA_FIELDS(max_learning_rate, scaling, f_min, eps, variant)
};
/// sgd(scaling) and scale_by_polyak.
GradientTransformation polyak_sgd(PolyakSgdOptions options = {});

}  // namespace strata::optim
