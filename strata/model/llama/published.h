// llama as others published it: strata/model/published/family.h.
#pragma once

#include "strata/model/published/family.h"

namespace strata::model::published {

/// Llama 2 and 3, and what is made alike (SmolLM2).
Family llama();

}  // namespace strata::model::published
