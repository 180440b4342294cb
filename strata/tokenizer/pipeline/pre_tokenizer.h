// Pre-tokenizers of tokenizer.json: where a normalised piece of text is cut before the model, and
// how its characters are rewritten.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "strata/tokenizer/pattern.h"
#include "strata/tokenizer/pipeline/part.h"

namespace strata::tokenizer {

/// A piece of a text, cut into splits one behind the other. What is cut out is between them.
struct Splits {
  struct Split {
    std::size_t begin, end;
    bool first;  // begins where the whole text begins
  };
  std::string text;
  std::vector<Split> splits;

  std::string_view of(const Split& s) const {
    return std::string_view(text).substr(s.begin, s.end - s.begin);
  }
};

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void apply(Splits& splits) const = 0;
};

/// ByteLevel, Split, Digits, Metaspace, Whitespace, WhitespaceSplit, Punctuation, BertPreTokenizer,
/// CharDelimiterSplit, UnicodeScripts, FixedLength, Sequence. Throws BadPart for another one or a
/// damaged one.
std::shared_ptr<const PreTokenizer> read_pre_tokenizer(const Json& part);

/// What becomes of a match: dropped, kept apart, joined to what is before or behind, or joined to
/// neighbouring matches.
enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
/// Throws BadPart for another name.
Behavior read_behavior(const std::string& name);
/// The splits that matches make of a text.
std::vector<Match> behave(const std::vector<Match>& matches, Behavior behavior);

}  // namespace strata::tokenizer
