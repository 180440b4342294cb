// gemma4 as others published it: strata/model/published/family.h.
#pragma once

#include "strata/model/published/family.h"

namespace strata::model::published {

/// All text models: 31B, 26B-A4B with experts, E2B and E4B with embeddings of each layer and last
/// layers that attend to earlier ones' keys. Their towers of images and sound are left out.
Family gemma4();

}  // namespace strata::model::published
