// The simplest models of text, for comparison: how often a token occurs, and how often after
// another.
//
//   Ngram kjv(8192);
//   kjv.add(tokens);
//   kjv.unigram(tokens) / tokens.size()     // nats for each token
//   kjv.bigram(tokens)                      // smaller for texts like those that were added
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace strata::train {

class Ngram {
 public:
  explicit Ngram(std::int64_t vocab_size);
  /// Counts tokens and neighbours of one text. Tokens are in 0 .. vocab_size - 1.
  void add(std::span<const std::int32_t> tokens);
  /// The tokens alone, for `unigram`.
  void add_unigrams(std::span<const std::int32_t> tokens);

  /// -log of p(t) = (count(t) + 1) / (all + vocab_size).
  double unigram_nats(std::int32_t token) const;
  /// -log of p(t | s) = (count(s t) + n(s) p(t)) / (count(s) + n(s)) with the number n(s) of
  /// different tokens seen after s. Source: Witten and Bell, The zero-frequency problem (1991).
  double bigram_nats(std::int32_t before, std::int32_t token) const;

  /// Nats of a whole text.
  double unigram(std::span<const std::int32_t> tokens) const;
  /// The first token counts as a unigram.
  double bigram(std::span<const std::int32_t> tokens) const;

 private:
  std::vector<double> counts_, before_, kinds_;
  std::unordered_map<std::uint64_t, double> pairs_;  // looked up only: its order reaches nothing
  double total_ = 0;
};

}  // namespace strata::train
