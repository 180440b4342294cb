// gpt_oss as others published it: strata/model/published/family.h.
#pragma once

#include "strata/model/published/family.h"

namespace strata::model::published {

Family gpt_oss();

}  // namespace strata::model::published
