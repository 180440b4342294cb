// Keys of the optimizer that speak of MaxText's own weights (private to this folder).
#pragma once

#include <string>
#include <vector>

#include "strata/train/maxtext/config.h"

namespace strata::train::maxtext {

/// Keys of this trainer, key=value, for adamw_mask, trainable_parameters_mask, mu_dtype and the
/// options of muon. Throws ConfigError for masks that are no regular expressions, that MaxText's
/// names of this model are not known for, or that choose some layers of a weight and not others.
std::vector<std::string> optimizer_keys(const Resolved& resolved);

}  // namespace strata::train::maxtext
