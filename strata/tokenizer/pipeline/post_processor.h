// Post-processors of tokenizer.json: the special tokens around one text or two.
#pragma once

#include <cstdint>
#include <vector>

#include "strata/tokenizer/pipeline/part.h"

namespace strata::tokenizer {

/// Where the tokens of the first and the second text stand, and which tokens are put between.
struct Template {
  static constexpr std::int32_t kFirst = -1, kSecond = -2;
  struct Piece {
    std::int32_t token;  // or kFirst, kSecond
    std::int32_t type = 0;
  };
  std::vector<Piece> single = {{kFirst}}, pair = {{kFirst}, {kSecond, 1}};

  /// How many tokens are added to one text or two.
  std::int64_t added(bool two) const;
};

/// TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel (which adds nothing), Sequence.
/// Throws BadPart for another one, a damaged one, or two of them that add tokens.
Template read_post_processor(const Json& part);

}  // namespace strata::tokenizer
