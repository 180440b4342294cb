// olmo2 as others published it: strata/model/published/family.h.
#pragma once

#include "strata/model/published/family.h"

namespace strata::model::published {

Family olmo2();

}  // namespace strata::model::published
