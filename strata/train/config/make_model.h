// The model that a configuration describes.
#pragma once

#include "strata/model/model.h"
#include "strata/train/config/config.h"

namespace strata::train {

/// The model that a family's keys describe. Throws ConfigError where `init` names a published one,
/// which `open_base` loads.
model::ModelPtr make_model(const Config& config);

}  // namespace strata::train
