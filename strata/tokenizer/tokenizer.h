// Text as tokens and back.
//
//   auto t = tokenizer::load_tokenizer("sentencepiece", "tokenizer.model");
//   if (!t) return fail(t.status());
//   std::vector<std::int32_t> tokens = (*t)->encode("In the beginning");
//   (*t)->decode(tokens)              // "In the beginning"
//
//   tokenizer::StreamDecoder stream(**t);  // for text that appears token by token
//   std::cout << stream.add(token);   // whole characters only
//
//   auto chat = tokenizer::load_tokenizer("huggingface", "SmolLM2");  // a folder, or a
//   tokenizer.json
//   (*chat)->encode_with("<|im_start|>user", {.add_special = true});
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"

namespace strata::tokenizer {

/// Bytes begin .. end - 1 of a text.
struct Span {
  std::size_t begin, end;
};

struct EncodeOptions {
  /// Put the special tokens around the text that the tokenizer's post-processor knows ("<s>").
  bool add_special = false;
  /// Look for special tokens in the text; without, "<|im_end|>" is text like any other.
  bool match_special = true;
  /// Bytes, ascending and apart, in which no special token is looked for: what users typed. They
  /// are encoded together with their surroundings all the same.
  std::span<const Span> literal = {};
  /// Keep at most so many tokens, added ones included; from the side that the tokenizer's file
  /// says (the right one where it says none).
  std::optional<std::int64_t> max_length = std::nullopt;
};

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
  /// Tokens of a prompt. Tokenizers without special tokens of that kind give `encode`'s, cut to
  /// max_length.
  virtual std::vector<std::int32_t> encode_with(std::string_view text,
                                                const EncodeOptions& options) const;
  /// The text of tokens, without special ones if asked. Throws Error for a token out of range.
  virtual std::string decode_with(std::span<const std::int32_t> tokens, bool skip_special) const;
  /// The token whose text in the vocabulary this is ("<|im_end|>"); nothing where none is.
  virtual std::optional<std::int32_t> id_of(std::string_view token) const;
  /// A token's text in the vocabulary; empty for a number that has none. Throws Error for a token
  /// out of range.
  virtual std::string token_of(std::int32_t token) const;
  /// Whether a token is special: never made of text that users typed.
  virtual bool is_special(std::int32_t token) const;
  /// The special tokens by the names that configurations and chat templates use: "bos_token" is
  /// "<s>".
  virtual const std::map<std::string, std::string>& special_tokens() const;
  /// The token of such a name; nothing where there is none.
  std::optional<std::int32_t> special_id(const std::string& name) const;
  virtual std::int64_t vocab_size() const = 0;
  /// Stands behind each document.
  virtual std::int32_t separator() const = 0;
  /// "byte", "sentencepiece", "huggingface" or "gguf": the `type` that `load_tokenizer` knows it
  /// by.
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

/// type "byte" (no path), "sentencepiece" (path of a .model file) or "huggingface" (path of a
/// tokenizer.json or of a folder that holds one). Code::invalid for another type, for a path that
/// is missing or too many, Code::corrupt for a file that is no model, naming it.
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

/// Text that appears token by token, as `tokenizers`' DecodeStream gives it: each piece is what
/// decoding gives beyond what it gave before. A piece that ends within a character is held back.
///
///   tokenizer::DecodeStream stream(*t, true);
///   for (std::int32_t token : tokens) std::cout << stream.step(token);
///
/// Where a token changes text that was handed out (upstream fails there), what is behind the part
/// in common is handed out. The tokenizer must outlive it.
class DecodeStream {
 public:
  explicit DecodeStream(const Tokenizer& tokenizer, bool skip_special = false)
      : tokenizer_(&tokenizer), skip_special_(skip_special) {}
  /// What became whole with this token; may be empty.
  std::string step(std::int32_t token);
  /// What is held back at the end.
  std::string finish();

 private:
  std::string decode() const;
  const Tokenizer* tokenizer_;
  bool skip_special_;
  std::vector<std::int32_t> ids_;
  std::string prefix_;
  std::size_t prefix_index_ = 0;
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
