// Weights that are trained, and others that stay as they are.
//
//   trainable_parameters_mask: ["*/attention/*", "layers/mlp/down/kernel:2,3"]
//
// A pattern is the shell's, of paths; behind a colon stand the layers that are meant of weights
// that have an axis for them ahead of the others.
#pragma once

#include <string>
#include <vector>

#include "strata/optim/gradient_transformation.h"

namespace strata::train {

/// `rule` on the weights that the patterns mean, zeros for others, which it keeps no state of; of a
/// weight of which some layers are meant the others' updates are zeros. Throws ConfigError, with
/// the pattern, for one that means no weight, or a layer there is not.
optim::GradientTransformation of_trainable(const std::vector<std::string>& patterns,
                                           const tree::Tree& weights,
                                           optim::GradientTransformation rule);

}  // namespace strata::train
