// Preferences to learn from, a JSON object on each line of a .jsonl file: an answer that was
// chosen, and one that was rejected.
//
//   {"prompt": "The sky is", "chosen": " blue.", "rejected": " green."}
//   {"prompt": [{"role": "user", "content": "Hi"}], "chosen": [{"role": "assistant", ...}], ...}
//   {"chosen": [{"role": "user", ...}, {"role": "assistant", ...}], "rejected": [...]}
//
//   auto pairs = PreferenceSource::open({"pairs.jsonl"}, {.tokenizer = t, .length = 512}).value();
//   MapDataset::source(pairs).seed(1).shuffle().batch(8)   // chosen/tokens: i32[8, 512], ...
//
// As TRL has them: "Dataset formats and types", preference with an explicit prompt or without one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"
#include "strata/data/chat_tokens.h"
#include "strata/data/dataset.h"
#include "strata/data/source.h"

namespace strata::data {

/// Two conversations of one prompt.
struct Preference {
  Conversation chosen, rejected;
};

/// Each line of a file's bytes; blank ones are passed over. Without "prompt" the prompt is what
/// both answers begin with: whole messages, of texts the characters but a space at their end
/// (TRL's extract_prompt). Code::invalid names the file, the line and what is wrong: as
/// `conversations_of`, and for answers that do not differ.
Result<std::vector<Preference>> preferences_of(std::string_view bytes, const std::string& path);

struct PreferenceOptions {
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer =
      std::make_shared<tokenizer::ByteTokenizer>();
  /// Needed by messages; null for texts alone.
  const tokenizer::ChatTemplate* chat_template = nullptr;
  /// Positions of a row.
  std::int64_t length = 512;
  /// What becomes of a pair one of which is longer than a row.
  Truncation truncation = Truncation::keep_start;
};

/// Record i: a dict of `chosen` and `rejected`, each a dict of tokens and targets, i32[S], weights,
/// f32[S], which are 1 where the target is of the answer, and segments, i32[S]: 1 for tokens, 0 for
/// filling. targets[s] is the token after tokens[s].
class PreferenceSource : public RecordSource {
 public:
  /// Reads and tokenises the files. Pairs are left out that truncation drops, and those of which an
  /// answer has no token left. Code::invalid as `preferences_of` and `example_of`, for a pair that
  /// is too long where that is refused, and where no pair is left.
  static Result<std::shared_ptr<const PreferenceSource>> open(const std::vector<std::string>& files,
                                                              const PreferenceOptions& options);
  std::int64_t size() const override { return static_cast<std::int64_t>(pairs_.size()); }
  Result<Element> read(std::int64_t index) const override;
  std::string name() const override;
  /// The pair's file, and its number among those of the file.
  RecordOrigin origin(std::int64_t index) const override;
  /// Pairs that were left out.
  std::int64_t left_out() const { return left_out_; }

 private:
  struct Pair {
    Example chosen, rejected;
    std::size_t file = 0;
    std::int64_t record = 0;
  };
  std::vector<std::string> files_;
  std::vector<Pair> pairs_;
  std::int64_t length_ = 0, left_out_ = 0;
};

}  // namespace strata::data
