// qwen3_next as others published it: strata/model/published/family.h.
#pragma once

#include "strata/model/published/family.h"

namespace strata::model::published {

Family qwen3_next();

}  // namespace strata::model::published
