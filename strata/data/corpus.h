// Plain text files as one row of tokens, cut into a part to train on and a part to evaluate on.
//
//   auto corpus = data::read_corpus({"text/*.txt"}, {.eval_fraction = 0.02});
//   if (!corpus) return fail(corpus.status());
//   corpus->train()      // tokens of the first 98 %
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "strata/base/result.h"

namespace strata::data {

struct CorpusOptions {
  /// The share at the end that is kept for evaluation: at least 0, below 1.
  double eval_fraction = 0.02;
};

/// Byte tokens of all files, separated by token 0. Copies share them.
class Corpus {
 public:
  Corpus(std::string tokens, double eval_fraction, std::vector<std::string> files);
  std::string_view tokens() const { return *tokens_; }
  std::string_view train() const { return tokens().substr(0, cut_); }
  std::string_view eval() const { return tokens().substr(cut_); }
  const std::vector<std::string>& files() const { return files_; }
  /// Of all tokens: tells whether the text is still the one a run began with.
  std::uint32_t checksum() const { return checksum_; }

 private:
  std::shared_ptr<const std::string> tokens_;
  std::size_t cut_;
  std::vector<std::string> files_;
  std::uint32_t checksum_;
};

/// Files that match shell patterns, each pattern's in sorted order. Code::not_found names a pattern without a match.
Result<std::vector<std::string>> expand_globs(const std::vector<std::string>& patterns);

/// Reads text files. Code::invalid for an empty file and for one that is no text: with a NUL byte, or with more than one
/// byte in a hundred outside well-formed UTF-8; the message says where and how many.
Result<Corpus> read_corpus(const std::vector<std::string>& patterns, const CorpusOptions& options = {});

}  // namespace strata::data
