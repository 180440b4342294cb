// strata generate --model: published models go on with texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "strata/cli/engine_options.h"
#include "strata/cli/sampling_options.h"

namespace strata::cli {

struct GenerateText {
  std::string model, adapter;
  std::vector<std::string> prompts, stop;
  SamplingOptions sampling;
  EngineOptions engine;
  std::optional<std::int64_t> max_tokens;
  std::int64_t num_samples = 1;
  std::string activations = "float";
  bool ignore_eos = false, json = false, stats = false;
};

/// Writes the texts, the first one as it is drawn; gives the exit status.
int generate_text(const GenerateText& options);

}  // namespace strata::cli
