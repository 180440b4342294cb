// Weight decay.
#pragma once

#include "strata/optim/transform/masked.h"

namespace strata::optim {

/// g + w p on the leaves of the mask; w may be a schedule. State: count where it is, and below
/// inner_state with a mask. Source: Loshchilov and Hutter, Decoupled Weight Decay Regularization
/// (2019).
GradientTransformation add_decayed_weights(Rate weight_decay = 0.0, Mask mask = {});

}  // namespace strata::optim
