// The keys below `lora` in a configuration: adapters of low rank beside the published model that
// `init` names.
//
//   strata train init=SmolLM2.gguf lora.rank=16 lora.alpha=32 lora.target_modules='[q_proj,
//   v_proj]'
#pragma once

#include <optional>
#include <string>

#include "strata/model/lora/targets.h"
#include "strata/train/config/config.h"

namespace strata::train {

/// What a table asks for; none for an empty one. Throws ConfigError for a key or value that is
/// none, with what is allowed. Whether the model has the targets, model::lora::select says.
std::optional<model::lora::LoraOptions> lora_options(const Table& lora);

/// "  # rank: 8" for each key that the table lacks; nothing for an empty table.
std::string lora_options_not_given(const Table& lora);
/// The keys with their defaults, for --help.
std::string describe_lora();

}  // namespace strata::train
