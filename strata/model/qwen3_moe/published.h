// qwen3_moe as others published it: strata/model/published/family.h.
#pragma once

#include "strata/model/published/family.h"

namespace strata::model::published {

Family qwen3_moe();

}  // namespace strata::model::published
