// Tokens of documents, in memory or mapped from a file, so that a corpus larger than memory costs
// nothing until it is read.
//
//   data::TokensBuilder builder(tokenizer);
//   builder.add(tokenizer.encode(text));                     // a document; the separator is put
//   behind it if (Status s = std::move(builder).finish().write("kjv.tokens"); !s.ok()) return
//   fail(s); auto tokens = data::Tokens::open("kjv.tokens");          // every byte checked
//
// The file, little-endian:
//
//   offset  bytes   what
//        0      8   "STRATOK1"
//        8      4   bytes of a token, 2 or 4
//       12      4   size of the vocabulary V; every token is below it
//       16      8   number of tokens T
//       24      8   number of documents D
//       32      4   the separator, which is the last token of each document
//       36      4   bytes of the tokenizer's fingerprint F
//       40      4   CRC-32C of all bytes from 64 on
//       44     16   zeros
//       60      4   CRC-32C of bytes 0 to 59
//       64      F   the tokenizer's fingerprint, then zeros to a multiple of 8
//             8 * (D + 1)   the token that each document begins with, rising from 0; at the end T
//             T tokens; the file ends behind the last one
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"
#include "strata/tokenizer/tokenizer.h"

namespace strata::data {

/// Immutable; copies share the bytes.
class Tokens {
 public:
  /// The bytes of a token of a vocabulary: 2 up to 65536, else 4.
  static int width_of(std::int64_t vocab_size) { return vocab_size <= 65536 ? 2 : 4; }
  /// Whether a file begins like one of these.
  static bool is_token_file(const std::string& path);
  /// Maps a file and checks all of it. Code::corrupt says what is wrong and where.
  static Result<Tokens> open(const std::string& path);
  /// The same for an open file, which may be closed then; messages call it `name`.
  static Result<Tokens> map(int fd, const std::string& name);
  /// The same for bytes in memory, which are shared.
  static Result<Tokens> decode(std::shared_ptr<const std::string> bytes, const std::string& name);

  std::int64_t size() const { return size_; }
  std::int64_t documents() const { return documents_; }
  std::int64_t vocab_size() const { return vocab_size_; }
  std::int32_t separator() const { return separator_; }
  const std::string& fingerprint() const { return fingerprint_; }
  /// Of all documents: tells texts apart.
  std::uint32_t checksum() const { return checksum_; }
  /// The token that document d begins with; of d = documents(), size().
  std::int64_t document(std::int64_t d) const;
  std::int32_t at(std::int64_t i) const;
  /// Tokens from .. from + out.size() - 1.
  void copy(std::int64_t from, std::span<std::int32_t> out) const;

  /// Writes the file whole or not at all.
  Status write(const std::string& path) const;

 private:
  friend class TokensBuilder;
  static Result<Tokens> decode(std::shared_ptr<const void> owner, std::string_view bytes,
                               const std::string& name);
  std::shared_ptr<const void> owner_;
  std::string_view bytes_;  // the whole file
  const char* offsets_ = nullptr;
  const char* tokens_ = nullptr;
  std::int64_t size_ = 0, documents_ = 0, vocab_size_ = 0;
  std::int32_t separator_ = 0;
  int width_ = 2;
  std::uint32_t checksum_ = 0;
  std::string fingerprint_;
};

class TokensBuilder {
 public:
  explicit TokensBuilder(const tokenizer::Tokenizer& tokenizer);
  /// Adds part of a document.
  void add_part(std::span<const std::int32_t> tokens);
  /// Ends the document.
  void end_document();
  /// A whole document.
  void add(std::span<const std::int32_t> tokens) {
    add_part(tokens);
    end_document();
  }
  Tokens finish() &&;

 private:
  void put(std::int32_t token);
  std::string fingerprint_;
  std::int64_t vocab_size_;
  std::int32_t separator_;
  int width_;
  std::vector<std::uint64_t> offsets_ = {0};
  std::string tokens_;
};

}  // namespace strata::data
