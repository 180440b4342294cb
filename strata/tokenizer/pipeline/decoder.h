// Decoders of tokenizer.json: what is made of tokens' texts, one after the other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strata/tokenizer/pipeline/part.h"

namespace strata::tokenizer {

class Decoder {
 public:
  virtual ~Decoder() = default;
  /// The texts to be joined.
  virtual std::vector<std::string> apply(std::vector<std::string> tokens) const = 0;
  /// The bytes of one token in the middle of others; not always whole characters.
  virtual std::string bytes(std::string token) const = 0;
};

/// ByteLevel, Metaspace, ByteFallback, Fuse, Strip, Replace, WordPiece, BPEDecoder, CTC, Sequence.
/// Throws BadPart for another one or a damaged one.
std::shared_ptr<const Decoder> read_decoder(const Json& part);

}  // namespace strata::tokenizer
