// Models in GGUF files.
//
//   auto loaded = model::load_gguf("SmolLM2-135M-Instruct.Q4_1.gguf");
//   if (!loaded) return fail(loaded.status());
//   Array logits = loaded->model->forward(loaded->params, tokens);
#pragma once

#include "strata/model/pretrained.h"

namespace strata::model {

/// The model of a GGUF file, its weights dequantised. The configuration is what the metadata amount
/// to (config_of). Codes of load; Code::unsupported for files that are no models (general.type
/// mmproj, imatrix, adapter).
Result<Pretrained> load_gguf(const std::string& path, const LoadOptions& options = {});

}  // namespace strata::model
