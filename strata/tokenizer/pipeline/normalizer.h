// Normalizers of tokenizer.json: what is made of a piece of text before it is cut.
//
//   auto n = read_normalizer(Json::parse(R"({"type": "NFC"})"));
//   n->apply("e\u0301")    // "é"
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "strata/tokenizer/pipeline/part.h"

namespace strata::tokenizer {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  /// Of well-formed UTF-8, which it gives.
  virtual std::string apply(std::string text) const = 0;
};

/// NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Replace, Prepend, Nmt, ByteLevel,
/// BertNormalizer, Precompiled, Sequence. Throws BadPart for another one or a damaged one.
std::shared_ptr<const Normalizer> read_normalizer(const Json& part);

/// The normalizer of a SentencePiece model's compiled map of characters (precompiled.cc). Whole
/// grapheme clusters below six bytes are looked up first, then characters, as `tokenizers` does it.
/// Throws BadPart for a map that is none.
std::shared_ptr<const Normalizer> precompiled_normalizer(std::string map);

}  // namespace strata::tokenizer
