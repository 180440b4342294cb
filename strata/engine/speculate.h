// Guessing tokens ahead, so that one step of the model draws several.
//
//   const auto drafter = make_drafter({.method = Speculation::Method::ngram}, target_options);
//   std::vector<Guess> rows = {{.known = tokens, .most = 4}};
//   drafter->guess(rows);                            // rows[0].tokens: 0 to 4 tokens
//
// Guessed tokens are read with the token that was drawn last, and the model draws behind each of
// them with the noise of its position. As long as a guess is what was drawn before it, the draw
// behind it is the one that plain decoding would have made; the first wrong one ends it. So tokens,
// and the bits of their log-probabilities, do not depend on what is guessed: guesses buy speed
// only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "strata/engine/sampling.h"
#include "strata/model/model.h"

namespace strata::engine {

/// Where guesses come from.
struct Speculation {
  /// Nowhere; from where the sequence had the same last tokens before (prompt lookup); from where
  /// it or any other request of the engine had them, by counts (SuffixDecoding); from a smaller
  /// model with the same tokens, which draws with the same noise.
  enum class Method { none, ngram, suffix, model };
  Method method = Method::none;
  /// Guesses of a step at most. A request whose guesses are wrong gets fewer, down to one.
  std::int64_t tokens = 4;
  /// Of ngram: last tokens to look for, at most and at least.
  std::int64_t longest = 4, shortest = 2;
  /// Of suffix: how deep the tree is, how likely a guess has to be by its counts, and how many
  /// tokens of other requests it remembers.
  std::int64_t depth = 12;
  double least_probability = 0.3;
  std::int64_t remembers = 1 << 14;
  /// Of model: one with the vocabulary of the engine's.
  model::ModelPtr model = {};
  tree::Tree params = {};
};
/// Throws Error for numbers out of range, and for a model that does not fit one with so many
/// tokens.
void check(const Speculation& speculation, std::int64_t vocabulary);

/// A sequence that wants guesses.
struct Guess {
  std::int64_t id = 0;
  std::span<const std::int32_t> known;  // prompt and output
  std::int64_t prompt = 0;
  std::int64_t position = 0;  // that the next token counts for what is drawn
  const Sampling* sampling = nullptr;
  std::span<const std::int32_t> stop_tokens = {};
  std::string salt = {};
  std::int64_t most = 0;
  std::vector<std::int32_t> tokens = {};  // the guesses, at most `most`
};

class Drafter {
 public:
  virtual ~Drafter() = default;
  virtual void guess(std::span<Guess> rows) = 0;
  /// A request has ended with these tokens.
  virtual void ended(const Guess&) {}
};

/// What the engine of a draft model is like: as its user's.
struct DraftLayout {
  std::int64_t max_length = 0, max_batch = 1, vocabulary = 0;
};
/// None for Method::none.
std::unique_ptr<Drafter> make_drafter(const Speculation& speculation, const DraftLayout& layout);

/// Guesses by the last tokens that stood before: those behind the latest place with the longest
/// equal tokens. Source: Saxena, Prompt Lookup Decoding (2023).
std::vector<std::int32_t> guess_by_ngram(std::span<const std::int32_t> known, std::int64_t longest,
                                         std::int64_t shortest, std::int64_t most);

}  // namespace strata::engine
