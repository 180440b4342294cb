// deepseek_v2 as others published it: strata/model/published/family.h; and what DeepSeek's later
// models share with it.
#pragma once

#include "strata/model/published/family.h"

namespace strata::model::published {

Family deepseek_v2();

/// The options that all of them have: sizes, latent attention, rotary positions, experts without
/// what their gate does.
decoder::Options deepseek_options(const Config& config, std::string_view model_type);
Names deepseek_names(const decoder::Options& options);
/// The config.json of a file of architecture deepseek2, with `more` joined.
std::string deepseek_config(const GgufMetadata& metadata, std::string_view model_type,
                            std::string_view more);
/// Throws Error for a text under this key that is another one; absent is as given.
void require_text(const Config& config, std::string_view key, std::string_view value);

}  // namespace strata::model::published
