// Constants of convolutions' layers: masks of kernels.
#pragma once

#include "strata/nn/linear/linear.h"

namespace strata::nn {

/// A constant of a layer: a leaf that is not trained.
using Constant = Variable<VariableStateKind>;

}  // namespace strata::nn
