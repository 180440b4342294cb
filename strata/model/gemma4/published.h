// gemma4 as others published it: strata/model/published/family.h.
#pragma once

#include "strata/model/published/family.h"

namespace strata::model::published {

/// The dense models and that of experts: 31B, 26B-A4B. Those with embeddings of each layer and
/// keys that layers share (E2B, E4B) are refused.
Family gemma4();

}  // namespace strata::model::published
