// Token files written piece by piece: of texts that are larger than memory.
//
//   auto writer = TokensWriter::create("kjv.tokens", tokenizer, documents);
//   writer->add_part(tokens), writer->end_document();        // as many documents as were said
//   auto tokens = std::move(*writer).finish();               // durable under its name, and mapped
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "strata/base/result.h"
#include "strata/data/tokens/token_file.h"

namespace strata::data {

/// Writes the file that a TokensBuilder's tokens would, in memory that does not grow with it. The
/// number of documents has to be known before, since their table stands in front of the tokens.
class TokensWriter {
 public:
  /// A file that is whole at `finish` or not there; an empty path is a file without a name in the
  /// system's folder for temporary files, which is gone with the last of its Tokens. The system's
  /// failures name the path.
  static Result<TokensWriter> create(const std::string& path, const tokenizer::Tokenizer& tokenizer,
                                     std::int64_t documents);
  TokensWriter(TokensWriter&& other) noexcept;
  TokensWriter& operator=(TokensWriter&&) = delete;
  ~TokensWriter();

  Status add_part(std::span<const std::int32_t> tokens);
  Status end_document();
  /// Code::invalid where there were fewer documents than `create` was told, or more.
  Result<Tokens> finish() &&;

 private:
  /// Bytes that are written from a place on, in order.
  struct Cursor {
    std::uint64_t at = 0;
    std::string held;
  };
  TokensWriter(int fd, std::string path, std::string aside)
      : fd_(fd), path_(std::move(path)), aside_(std::move(aside)) {}
  Status put(Cursor& cursor, std::string_view bytes);
  Status flush(Cursor& cursor);
  Status write_header();
  Status check_documents() const;
  std::string shown() const { return path_.empty() ? "a temporary token file" : path_; }

  int fd_ = -1;
  std::string path_, aside_;  // the name at the end, and until then
  std::string fingerprint_;
  std::int64_t vocab_size_ = 0;
  std::int32_t separator_ = 0;
  std::size_t width_ = 2;
  std::int64_t documents_ = 0, ended_ = 0;
  std::uint64_t size_ = 0;  // tokens so far
  Cursor offsets_, tokens_;
};

}  // namespace strata::data
