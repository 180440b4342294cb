// generation_config.json: how a model's makers want its tokens drawn, and where it stops.
//
//   auto config = engine::read_generation_config(text, "SmolLM2/generation_config.json");
//   Request r{.tokens = prompt, .sampling = config->sampling, .stop_tokens = config->eos};
//
// Source: transformers' GenerationConfig. What changes the distribution and is not built is told in
// `ignored`, so that nobody takes one model for another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"
#include "strata/engine/sampling.h"

namespace strata::engine {

struct GenerationConfig {
  /// temperature 0 unless do_sample; top_k 50 where the file asks for sampling and names none, as
  /// upstream's default.
  Sampling sampling = {.temperature = 0};
  /// Tokens that end a text.
  std::vector<std::int32_t> eos;
  std::optional<std::int32_t> bos;
  std::optional<std::int64_t> max_new_tokens;
  std::vector<std::string> stop_strings;
  /// Keys with a say in what is drawn that are not followed: "num_beams=4".
  std::vector<std::string> ignored;
};

/// Of the file's text; `name` stands for it in messages. Code::corrupt for what is no JSON object,
/// or for values of other types or out of range.
Result<GenerationConfig> read_generation_config(std::string_view text, const std::string& name);

}  // namespace strata::engine
