// qwen3_5 and qwen3_5_moe as others published them: strata/model/published/family.h.
#pragma once

#include "strata/model/published/family.h"

namespace strata::model::published {

Family qwen3_5();
Family qwen3_5_moe();

}  // namespace strata::model::published
