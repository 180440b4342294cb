// How the next token is drawn, for many rows at once, inside a compiled step.
//
//   engine::Drawn next = engine::draw(logits, rows, seen);        // logits (B, V)
//
// Each step of it is a function of its own. Their order is vLLM's: bias, penalties, temperature,
// min_p, top_k, top_p, draw. Parameters are arrays with a number for each row, so one program
// serves all requests; a row whose parameters say nothing is left as it is, to the bit.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "strata/api/tree/tree.h"
#include "strata/engine/chain.h"

namespace strata::engine {

/// What a request says about how its tokens are drawn. Names and ranges are vLLM's.
struct Sampling {
  /// Logits are divided by it. Below 1e-5: the likeliest token each time, of equal ones the first;
  /// from there to 0.01 it is taken as 0.01.
  double temperature = 1;
  /// Only this many of the likeliest tokens are drawn from, and those as likely as the last of
  /// them; 0: all.
  std::int64_t top_k = 0;
  /// Only the fewest of the likeliest tokens whose probabilities exceed this sum; 1: all.
  double top_p = 1;
  /// Only tokens with this part of the greatest probability; 0: all.
  double min_p = 0;
  /// Logits of tokens of the prompt and the output are divided by it, negative ones multiplied.
  double repetition_penalty = 1;
  /// Times a token's count in the output, taken from its logit.
  double frequency_penalty = 0;
  /// Taken from the logits of the output's tokens.
  double presence_penalty = 0;
  /// The same request with the same seed gives the same tokens, beside any others.
  std::uint64_t seed = 0;
  /// Added to the logits of these tokens before everything else; numbers beyond 100 and -100 are
  /// taken as those. A token that is named twice gets both.
  std::vector<std::pair<std::int32_t, float>> logit_bias = {};
  /// Only these are drawn; none: all.
  std::optional<std::vector<std::int32_t>> allowed_tokens = {};
  /// Sequences of tokens that the output does not have.
  std::vector<std::vector<std::int32_t>> bad_words = {};
  /// No stop token is drawn before the output has so many tokens.
  std::int64_t min_tokens = 0;
  /// What is told of tokens: log-probabilities at this temperature, after bias and penalties and
  /// before min_p, top_k and top_p; those of the model's own logits, or these logits; those of the
  /// distribution that is drawn from, after all cuts, or its logits. The last four are vLLM's.
  enum class LogprobsMode {
    tempered,
    raw_logprobs,
    raw_logits,
    processed_logprobs,
    processed_logits
  };
  LogprobsMode logprobs_mode = LogprobsMode::tempered;
  /// llama.cpp's samplers: where there are any, tokens are drawn in their order, not in this one's.
  std::optional<Chain> chain = {};

  bool greedy() const { return temperature < 1e-5; }
  /// Whether what was drawn before has a say.
  bool has_penalties() const {
    return repetition_penalty != 1 || frequency_penalty != 0 || presence_penalty != 0;
  }
};
/// Throws Error for a number out of range, which it names.
void check(const Sampling& sampling);
/// The same, and for tokens that are not in [0, vocabulary).
void check(const Sampling& sampling, std::int64_t vocabulary);

/// The seed of another sample of the same request; that of number 0 is the request's own.
std::uint64_t seed_of_sample(std::uint64_t seed, std::int64_t number);

/// Whether `add_bias` has something to add for the token behind `drawn` drawn ones.
bool has_bias(const Sampling& sampling, std::int64_t drawn);
/// Adds what the request says about single tokens to a row of logits' bias: logit_bias, and -inf
/// for those that may not come behind this output.
void add_bias(const Sampling& sampling, std::span<const std::int32_t> output,
              std::span<const std::int32_t> stop_tokens, std::span<float> bias_V);

/// The parameters of B rows.
struct Rows {
  Array temperature;                                              // (B) f32; 0: greedy
  Array top_k;                                                    // (B) i32; 0: all
  Array top_p, min_p;                                             // (B) f32
  Array repetition_penalty, frequency_penalty, presence_penalty;  // (B) f32
  Array seed;                                                     // (B, 2) ui32, high word first
  Array position;                                                 // (B) i32, of the output
  Array told;                                                     // (B) i32: logprobs_mode
  std::optional<Array> bias = {};                                 // (B, V) f32; none: zeros
  STRATA_FIELDS(temperature, top_k, top_p, min_p, repetition_penalty, frequency_penalty,
                presence_penalty, seed, position, told, bias)
};
/// Of rows that draw the tokens at these positions of their outputs.
Rows rows(std::span<const Sampling> sampling, std::span<const std::int32_t> positions);
Rows rows(std::span<const Sampling* const> sampling, std::span<const std::int32_t> positions);

/// The tokens that B rows have seen.
struct Seen {
  Array prompt;  // (B, V) i1: whether the token is in the prompt
  Array output;  // (B, V) i32: how often it is in the output
  STRATA_FIELDS(prompt, output)
};

/// Logits (B, V) f32 after the three penalties, each (B). Source: Keskar et al., CTRL (2019), for
/// repetition; OpenAI's API for the others.
Array penalised(const Array& logits_BV, const Seen& seen, const Array& repetition,
                const Array& frequency, const Array& presence);
/// Logits divided by the temperatures (B), by 1 where those are 0.
Array at_temperature(const Array& logits_BV, const Array& temperature);
/// -inf where the probability is below m times the row's greatest.
Array keep_min_p(const Array& logits_BV, const Array& m);
/// -inf below the k-th greatest; 0 keeps all.
Array keep_top_k(const Array& logits_BV, const Array& k);
/// -inf where the probabilities, summed from the least one on, are at most 1 - p; the greatest
/// stays, and so do all that equal the least one kept. Source: Holtzman et al. (2020).
Array keep_top_p(const Array& logits_BV, const Array& p);
/// Gumbel noise (B, V) f32: that of a token depends on the row's seed, its position and the token's
/// number alone.
Array noise(const Array& seed, const Array& position, std::int64_t vocabulary);

/// One token for each row.
struct Drawn {
  Array token;  // (B) i32
  /// (B) f32: of the distribution at the row's temperature (1 where it is 0), after bias and
  /// penalties and before min_p, top_k and top_p; else what its `told` asks for.
  Array logprob;
  /// (B) i1: whether the greatest logit is a number; where not, the token means nothing.
  Array valid;
  STRATA_FIELDS(token, logprob, valid)
};
/// Draws from logits (B, V) f32: argmax of what is kept plus noise, for greedy rows without noise.
/// `seen` is needed where a row has penalties. Sorts and noise are made where some row asks for
/// them.
Drawn draw(const Array& logits_BV, const Rows& rows, const std::optional<Seen>& seen = {});
/// The same, and what is told of all tokens (B, V). `seen` is asked where some row has
/// penalties.
std::pair<Drawn, Array> draw_with_all(const Array& logits_BV, const Rows& rows,
                                      const std::function<Seen()>& seen);

}  // namespace strata::engine
