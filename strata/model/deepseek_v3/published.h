// deepseek_v3 as others published it: strata/model/published/family.h.
#pragma once

#include "strata/model/published/family.h"

namespace strata::model::published {

Family deepseek_v3();
/// The options, under another name, of models of its shape.
decoder::Options deepseek_v3_options(const Config& config, std::string_view model_type);

}  // namespace strata::model::published
