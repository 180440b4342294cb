// Text as bytes: the tokenizer that needs no file.
//
//   data::ByteTokenizer t;
//   t.encode("Hi")        // {72, 105}
//   t.decode({72, 105})   // "Hi"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::data {

/// Token i is byte i. Text has no byte 0 (corpora with one are refused as binary), so token 0 parts documents.
class ByteTokenizer {
 public:
  static constexpr std::int32_t kSeparator = 0;
  static constexpr std::int64_t kVocabSize = 256;

  std::vector<std::int32_t> encode(std::string_view text) const;
  /// Separators become line ends. Tokens outside 0 .. 255 are a mistake of the caller: throws Error.
  std::string decode(const std::vector<std::int32_t>& tokens) const;
};

}  // namespace strata::data
