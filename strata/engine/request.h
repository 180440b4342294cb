// What a client asks of the engine, and what it is told.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/engine/logprobs.h"
#include "strata/engine/sampling.h"

namespace strata::engine {

/// A request's number, from 1 on.
using Id = std::int64_t;
using Clock = std::chrono::steady_clock;

/// One token, as it was drawn.
struct Token {
  Id id;
  std::int32_t token;
  /// As in Drawn.
  float logprob;
  /// Which token of the output, from 0 on.
  std::int64_t position;
  /// Before everything that changes them; empty without `with_logits` (of all requests or of this
  /// one), and gone after the call.
  std::span<const float> logits;
  /// Where the request asks for them.
  TokenLogprobs others = {};
};

/// Why a request ended: it has max_tokens tokens; it drew a stop token; it is as long as it may be;
/// it was cancelled; its logits are no numbers, or no token may be drawn; its deadline has passed;
/// it repeats itself.
enum class End { max_tokens, stop, length, cancelled, error, deadline, repetition };
/// "max_tokens", "stop", "length", "cancelled", "error", "deadline", "repetition".
std::string_view name(End end);

/// When things happened to a request; none: not yet.
struct Times {
  Clock::time_point queued = {};
  std::optional<Clock::time_point> scheduled = {}, first_token = {}, last_token = {};
};

/// What became of a request.
struct Output {
  std::vector<std::int32_t> tokens;  // a stop token among them
  std::vector<float> logprobs;       // of each
  End end = End::max_tokens;
  std::string error;  // what happened, where the end is `error`
  std::int64_t prompt_tokens = 0;
  std::int64_t shared_tokens = 0;  // of the prompt, that others had read before: cached tokens
  std::vector<TokenLogprobs> others = {};           // of each token, where asked for
  std::vector<PromptLogprob> prompt_logprobs = {};  // of each but the first, where asked for
  std::int64_t guessed = 0, accepted = 0;           // tokens guessed for it, and right ones
  std::int64_t preempted = 0;                       // how often it was put back
  Times times = {};
};

/// An output ends where its last tokens are one sequence of `min_size` to `max_size` tokens,
/// `min_count` times.
struct RepetitionDetection {
  std::int64_t max_size = 0, min_size = 1, min_count = 2;
};
/// Throws Error for sizes or a count out of range.
void check(const RepetitionDetection& detection);
/// Whether the tokens end so.
bool repeats(std::span<const std::int32_t> tokens, const RepetitionDetection& detection);

struct Request {
  /// The prompt: one token at least.
  std::vector<std::int32_t> tokens;
  Sampling sampling = {};
  std::int64_t max_tokens = 16;
  /// Tokens that end it.
  std::vector<std::int32_t> stop_tokens = {};
  /// The position from which its output counts for what is drawn: who goes on with a text draws as
  /// if it had not been interrupted.
  std::int64_t first_position = 0;
  /// Whether its tokens are handed on with their logits.
  bool with_logits = false;
  /// Called before each token is drawn, with the output so far. `bias` (V), zeros at first and kept
  /// from call to call, is added to the logits before everything else that changes them; -inf
  /// forbids a token. Returns whether it changed `bias`. Must be a function of the output alone, as
  /// a request that is put back begins anew. No tokens are guessed for such a request, unless...
  std::function<bool(std::span<const std::int32_t> output, std::span<float> bias)> shape = {};
  /// ...`shape` may be asked for outputs with guesses, in any order.
  bool shape_takes_guesses = false;
  /// Called with each token, and with the end. Both may submit and cancel requests.
  std::function<void(const Token&)> on_token = {};
  std::function<void(Id, const Output&)> on_end = {};
  /// How many of the likeliest tokens come with each drawn one; -1: all; none: not asked for.
  std::optional<std::int64_t> logprobs = {};
  /// The same for each token of the prompt, by the model's own logits. Such a request reads its
  /// whole prompt, as pages hold no logits.
  std::optional<std::int64_t> prompt_logprobs = {};
  /// Tokens whose log-probabilities come with each drawn one, whatever they are.
  std::vector<std::int32_t> logprob_tokens = {};
  /// Smaller ones come first; of equal ones, who came first.
  std::int64_t priority = 0;
  /// Until then it has an answer, or ends with End::deadline and what it has.
  std::optional<Clock::time_point> deadline = {};
  /// Requests share what they have read with those of the same salt only.
  std::string salt = {};
  /// Whether tokens may be guessed for it (speculate.h); they are the same without.
  bool speculate = true;
  std::optional<RepetitionDetection> repetition_detection = {};
};

}  // namespace strata::engine
