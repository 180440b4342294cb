// kimi_k2 as others published it: strata/model/published/family.h.
#pragma once

#include "strata/model/published/family.h"

namespace strata::model::published {

Family kimi_k2();

}  // namespace strata::model::published
