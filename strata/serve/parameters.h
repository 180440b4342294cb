// Sampling parameters of a request: each read from JSON with its range checked.
#pragma once

#include <cstdint>
#include <string>

#include "strata/serve/engine.h"
#include "strata/serve/json.h"

namespace strata::serve {

struct Parameters {
  /// Without its tokens; the seed of choice i is job.sampling.seed + i.
  Job job;
  std::int64_t n = 1;
  bool max_tokens_given = false;
  bool stream = false, include_usage = false, echo = false, add_generation = true;
};

/// Of a completion or a chat; `usual` is how the model's makers want tokens drawn. Throws ApiError
/// (400) that names the field and says what is allowed.
Parameters read_parameters(const Json& body, bool chat, const engine::Sampling& usual,
                           std::int64_t vocabulary, std::int64_t max_logprobs);

}  // namespace strata::serve
