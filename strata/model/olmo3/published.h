// olmo3 as others published it: strata/model/published/family.h.
#pragma once

#include "strata/model/published/family.h"

namespace strata::model::published {

Family olmo3();

}  // namespace strata::model::published
