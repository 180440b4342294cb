// qwen3_next as others published it: strata/model/published/family.h.
#pragma once

#include "strata/model/published/config.h"
#include "strata/model/published/family.h"

namespace strata::model::published {

Family qwen3_next();

/// Layers of the gated delta rule and, each `full_attention_interval` or as `layer_types` say, of
/// gated attention, without experts: what Qwen3-Next and Qwen3.5 share. Throws Error for other
/// kinds of layers.
decoder::Options delta_options(const Config& config, std::string_view model_type);

}  // namespace strata::model::published
