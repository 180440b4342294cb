// An adapter of low rank that is added to tensors while they are converted, row by row. Private to
// strata/model/convert.
#pragma once

#include <string>

#include "strata/base/result.h"

namespace strata::model::conversion {

struct Plan;

/// Adds the adapter of a folder (lora/peft.h) to the tensors of a plan, which is of a model with
/// this config.json. Codes of lora::load_peft.
Status add_adapter(Plan& plan, const std::string& folder, const std::string& config, bool to_gguf);

}  // namespace strata::model::conversion
