// Text as tokens and back.
//
//   auto t = tokenizer::load_tokenizer("sentencepiece", "tokenizer.model");
//   if (!t) return fail(t.status());
//   std::vector<std::int32_t> tokens = (*t)->encode("In the beginning");
//   (*t)->decode(tokens)              // "In the beginning"
//
//   tokenizer::StreamDecoder stream(**t);  // for text that appears token by token
//   std::cout << stream.add(token);   // whole characters only
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"

namespace strata::tokenizer {

/// Immutable; may be used by several threads at once.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  /// Tokens of a text, without separators.
  virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;
  /// How many bytes at the start of `text` may be encoded apart: encode(text) is encode of these
  /// followed by encode of the rest. At least 1 of a text that is not empty, and bounded, so that
  /// long texts are encoded in parallel.
  virtual std::size_t part(std::string_view text) const;
  /// The bytes that one token stands for, which need not be whole characters; a line end for the
  /// separator, nothing for other tokens without text. Throws Error for a token outside 0 ..
  /// vocab_size() - 1.
  virtual std::string bytes(std::int32_t token) const = 0;
  /// The bytes of all tokens, one after the other: decode(encode(text)) == text for whatever text
  /// `encode` keeps whole.
  virtual std::string decode(std::span<const std::int32_t> tokens) const;
  virtual std::int64_t vocab_size() const = 0;
  /// Stands behind each document.
  virtual std::int32_t separator() const = 0;
  /// "byte" or "sentencepiece": the `type` that `load_tokenizer` knows it by.
  virtual std::string type() const = 0;
  /// Equal for tokenizers that give equal tokens: "byte", "sentencepiece:1a2b3c4d:240311" (CRC-32C
  /// and size of the model).
  virtual std::string fingerprint() const = 0;
  /// The file that it came from, byte by byte; empty for one that needs none.
  virtual const std::string& model() const;
};

/// Token i is byte i. Text has no byte 0 (what holds one is refused as no text), so token 0
/// separates documents.
class ByteTokenizer : public Tokenizer {
 public:
  static constexpr std::int32_t kSeparator = 0;
  static constexpr std::int64_t kVocabSize = 256;

  std::vector<std::int32_t> encode(std::string_view text) const override;
  std::string bytes(std::int32_t token) const override;
  std::int64_t vocab_size() const override { return kVocabSize; }
  std::int32_t separator() const override { return kSeparator; }
  std::string type() const override { return "byte"; }
  std::string fingerprint() const override { return "byte"; }
};

/// type "byte" (no path) or "sentencepiece" (path of a .model file). Code::invalid for another
/// type, for a path that is missing or too many, Code::corrupt for a file that is no model, naming
/// it.
Result<std::shared_ptr<const Tokenizer>> load_tokenizer(const std::string& type,
                                                        const std::string& path);

/// Joins the bytes of tokens to text that is handed out in whole UTF-8 characters. Bytes that
/// cannot become a character are handed out as U+FFFD, one for each byte. The tokenizer must
/// outlive it.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}
  /// What became whole with this token; may be empty.
  std::string add(std::int32_t token);
  /// What is left at the end, as U+FFFD.
  std::string finish();

 private:
  std::string take(bool end);
  const Tokenizer* tokenizer_;
  std::string held_;
};

struct TokenizerTraining {
  /// "bpe" or "unigram".
  std::string algorithm = "bpe";
  /// With the 256 byte tokens, the unknown token, the separator and the line end.
  std::int64_t vocab_size = 8192;
};
/// Trains a SentencePiece model and gives its file. Every text can be encoded by it and comes back
/// the same (byte fallback, no normalisation); a line end is a token of its own; runs of spaces may
/// be tokens. The same texts and options give the same file. Code::invalid for another algorithm, a
/// vocabulary below 512, or texts too small for it.
Result<std::string> train_tokenizer(const std::vector<std::string_view>& texts,
                                    const TokenizerTraining& options = {});

}  // namespace strata::tokenizer
