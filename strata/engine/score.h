// How likely a model finds a text: log-probabilities of its tokens, and its logits.
//
//   engine::Scorer scorer(lm.model, lm.params);
//   engine::Scored s = scorer.score(tokens);          // of tokens 1, 2, ...
//
// Sequences are read through the same cache of pages as where tokens are drawn, a piece at a time,
// so the numbers are to the bit those of the engine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/engine/language_model.h"

namespace strata::engine {

/// Of each token but the first, given those before it.
struct Scored {
  std::vector<float> logprobs;
  /// Whether it is the likeliest one.
  std::vector<bool> greedy;
};

class Scorer {
 public:
  /// Reads sequences of at most `max_length` tokens. Throws Error for a model without a cache of
  /// pages.
  Scorer(model::ModelPtr model, const tree::Tree& params, std::int64_t max_length);
  ~Scorer();
  Scorer(const Scorer&) = delete;
  Scorer& operator=(const Scorer&) = delete;

  /// The last token is scored and not read, so there may be max_length + 1. Throws Error for fewer
  /// than two tokens, for more, and for tokens that the model lacks.
  Scored score(std::span<const std::int32_t> tokens) const;
  /// Logits (tokens, V) f32.
  Array logits(std::span<const std::int32_t> tokens) const;

 private:
  class Program;
  std::unique_ptr<Program> program_;
};

/// Loss of a text, and what follows from it.
struct Perplexity {
  std::int64_t tokens = 0;  // those that were scored
  double nats = 0;          // the sum of their losses
  double perplexity() const;
  /// Bits for each byte of the text.
  double bits_per_byte(std::size_t bytes) const;
};
/// Windows of `length` tokens begin `stride` tokens apart; a window's tokens count that no earlier
/// one had, so each but the text's first is scored once, and behind the first window sees length -
/// stride tokens at least. `progress` is called with the tokens that are done.
Perplexity perplexity(const Scorer& scorer, std::span<const std::int32_t> tokens,
                      std::int64_t length, std::int64_t stride,
                      const std::function<void(std::int64_t)>& progress = {});

}  // namespace strata::engine
