// Sampling parameters of a request: each read from JSON with its range checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "strata/serve/engine.h"
#include "strata/serve/json.h"
#include "strata/serve/structured.h"
#include "strata/serve/tools.h"

namespace strata::serve {

struct Parameters {
  /// Without its tokens; the seed of choice i is job.sampling.seed + i.
  Job job;
  std::int64_t n = 1;
  /// How many are drawn for each prompt, of which the n with the greatest mean log-probability are
  /// told.
  std::int64_t best_of = 1;
  /// Of a longer prompt only so many tokens at its end are read; -1: as many as leave room.
  std::optional<std::int64_t> truncate = {};
  /// Tokens between marks of thinking, at most.
  std::optional<std::int64_t> thinking = {};
  bool max_tokens_given = false;
  bool stream = false, include_usage = false, echo = false;
  /// Tokens of a stream that come in one piece; the first comes at once.
  std::int64_t stream_interval = 1;
  /// Where a chat's prompt ends.
  engine::ChatEnd end = engine::ChatEnd::answer;
  /// The form of the answer, and the tools that it may call.
  std::optional<Form> form = {};
  ToolChoice tools = {};
  CallFormat calls = {};
  /// Words that are not drawn, as text.
  std::vector<std::string> bad_words = {};
  /// Over which DRY sees no repetition, as text.
  std::vector<std::string> dry_breakers = {};
};

/// Of a completion or a chat; `usual` is how the model's makers want tokens drawn. Throws ApiError
/// (400) that names the field and says what is allowed.
Parameters read_parameters(const Json& body, bool chat, const engine::Sampling& usual,
                           std::int64_t vocabulary, std::int64_t max_logprobs);

/// The tokens of words, each with and without a space before it where that makes other tokens.
std::vector<std::vector<std::int32_t>> bad_words(const tokenizer::Tokenizer& tokenizer,
                                                 const std::vector<std::string>& words);

/// DRY's breakers (Chain::dry_breakers) of texts: tokens that hold one, and for tokens that end
/// with its beginning those with the rest behind them. In rising order. As llama.cpp.
std::vector<std::vector<std::int32_t>> breakers(const tokenizer::Tokenizer& tokenizer,
                                                const std::vector<std::string>& texts);

/// Where a chat's prompt ends, by add_generation_prompt and continue_final_message.
engine::ChatEnd read_end(const Json& body);

}  // namespace strata::serve
