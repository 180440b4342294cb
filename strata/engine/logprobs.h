// The likeliest tokens beside the one that was drawn.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace strata::engine {

struct TokenLogprob {
  std::int32_t token;
  float logprob;
  /// How many tokens are at least as likely: 1 for the likeliest.
  std::int64_t rank;
};
struct TokenLogprobs {
  /// Of the drawn token; 0: not asked for.
  std::int64_t rank = 0;
  /// The likeliest ones, of equal ones the first, and then those that were asked for by number.
  std::vector<TokenLogprob> likeliest = {}, asked = {};
};
/// A token of a prompt, given those before it.
struct PromptLogprob {
  std::int32_t token = 0;
  float logprob = 0;
  TokenLogprobs others = {};
};

/// Of a row of log-probabilities (V): the rank of `token`, the `most` likeliest (-1: all), and
/// `asked`.
TokenLogprobs likeliest(std::span<const float> logprobs_V, std::int32_t token, std::int64_t most,
                        std::span<const std::int32_t> asked = {});

}  // namespace strata::engine
