// llama4_text as others published it: strata/model/published/family.h.
#pragma once

#include "strata/model/published/family.h"

namespace strata::model::published {

Family llama4();

}  // namespace strata::model::published
