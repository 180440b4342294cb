// bert, MiniLM among it, as others published it: strata/model/published/family.h.
#pragma once

#include "strata/model/published/family.h"

namespace strata::model::published {

Family bert();

}  // namespace strata::model::published
