// mixtral as others published it: strata/model/published/family.h.
#pragma once

#include "strata/model/published/family.h"

namespace strata::model::published {

Family mixtral();

}  // namespace strata::model::published
