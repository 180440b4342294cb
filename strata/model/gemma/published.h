// gemma as others published it: strata/model/published/family.h.
#pragma once

#include "strata/model/published/family.h"

namespace strata::model::published {

Family gemma();
/// What the generations of Gemma share.
decoder::Options gemma_options(const Config& config, std::string_view model_type);

}  // namespace strata::model::published
