// What a run on a published model made of it, as a model that others load.
//
//   train::write_outcome(config, base, state.params);
//   // RUN/model/: config.json, tokenizer.json, generation_config.json, ..., model.safetensors
#pragma once

#include <string>

#include "strata/base/result.h"
#include "strata/train/config/base_model.h"

namespace strata::train {

/// RUN/model.
std::string outcome_folder(const Config& config);
/// The files beside the weights, at a run's start; none for adapters, which are written by
/// themselves.
Status begin_outcome(const Config& config, const Base& base);
/// The weights, in their dtype, under their published names.
Status write_outcome(const Config& config, const Base& base, const tree::Tree& params);

/// What the model answers to a question, drawn greedily, at most so many tokens; a model without a
/// chat template goes on with it. Code::invalid where the template refuses.
Result<std::string> answer_of(const Base& base, const tree::Tree& params,
                              const std::string& question, std::int64_t max_tokens = 64);

}  // namespace strata::train
