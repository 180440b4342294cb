// The conversations of one source as rows of tokens: tokenised, cut, split, packed. Private to this
// room; `Dataset` blends such rows as it does windows of text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/data/chat_tokens.h"
#include "strata/data/dataset_contents.h"
#include "strata/data/dataset_options.h"
#include "strata/data/sources.h"

namespace strata::data {

/// Whether there is a target that counts: the first token is none.
bool teaches(const Example& e);
/// Keeps `most` tokens of a longer example; false where nothing is to be kept.
bool cut_example(Example& e, std::int64_t most, Truncation how,
                 const tokenizer::Tokenizer& tokenizer);

class Examples {
 public:
  /// Reads a source's files as options.column says. Fails as `Dataset::open` says; `note` is called
  /// with what was left out and why.
  static Result<Examples> read(const Source& source, const DatasetOptions& options,
                               const std::function<void(const std::string&)>& note);

  std::int64_t count() const { return static_cast<std::int64_t>(examples_.size()); }
  const std::vector<std::string>& files() const { return files_; }
  /// The first ones are trained on.
  std::int64_t train_count() const { return train_count_; }
  std::int64_t tokens() const { return begins_.back(); }
  std::int64_t train_tokens() const { return begins_[static_cast<std::size_t>(train_count_)]; }
  std::uint32_t checksum() const { return checksum_; }
  /// Rows of the training part, and of the evaluation part.
  std::int64_t rows(bool eval) const {
    return static_cast<std::int64_t>((eval ? eval_rows_ : train_rows_).size());
  }
  /// Puts a row into place b of a batch that has weights, and with packing segments and positions.
  void fill(bool eval, std::int64_t row, std::int64_t b, Batch& out) const;
  /// The first example of a training row, its first token among all, and its file.
  std::int64_t first_example(std::int64_t row) const;
  std::int64_t first_token(std::int64_t row) const;
  const std::string& file_of(std::int64_t example) const;
  /// What the tokens of a training row are of: a conversation each, as it is written by the
  /// template.
  std::vector<TokenPlace> where(std::int64_t row, const tokenizer::Tokenizer& tokenizer) const;
  /// Tokens from .. of all examples in their order.
  void copy(std::int64_t from, std::span<std::int32_t> out) const;

 private:
  using Rows = std::vector<std::vector<std::size_t>>;
  Rows rows_of(std::size_t first, std::size_t last, const DatasetOptions& options) const;
  std::vector<Example> examples_;
  std::vector<std::size_t> file_;     // of each example
  std::vector<std::int64_t> record_;  // its number in the file
  std::vector<std::int64_t> begins_;  // the first token of each, and the end
  std::vector<std::string> files_;
  std::int64_t train_count_ = 0;
  std::uint32_t checksum_ = 0;
  Rows train_rows_, eval_rows_;
};

}  // namespace strata::data
