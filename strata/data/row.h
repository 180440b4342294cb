// The tokens of one source: texts and token files joined to one row. Private to this room.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "strata/data/row_options.h"
#include "strata/data/sources.h"
#include "strata/data/tokens/token_file.h"

namespace strata::data {

class Row {
 public:
  /// Fails as `Dataset::open` says.
  static Result<Row> read(const Source& source, const tokenizer::Tokenizer& tokenizer,
                          const RowOptions& options);
  /// Of texts in memory.
  static Row of(const std::vector<std::string>& documents, const tokenizer::Tokenizer& tokenizer);

  std::int64_t size() const { return size_; }
  std::int64_t documents() const { return documents_; }
  std::uint32_t checksum() const { return checksum_; }
  const std::vector<std::string>& files() const { return files_; }
  void copy(std::int64_t from, std::span<std::int32_t> out) const;
  /// The token that document d begins with; of d = documents(), size().
  std::int64_t document(std::int64_t d) const;
  /// The document that holds a token.
  std::int64_t document_of(std::int64_t token) const;
  const std::string& file_of(std::int64_t document) const;
  /// The number of a document in its file, from 0.
  std::int64_t record_of(std::int64_t document) const;

 private:
  class Reader;
  struct Segment {
    std::int64_t token, document;  // the first of each
    Tokens tokens;
  };
  struct FileStart {
    std::int64_t document;
    std::size_t file;
  };
  void add(Tokens tokens);
  std::vector<Segment> segments_;
  std::vector<FileStart> starts_;
  std::vector<std::string> files_;
  std::int64_t size_ = 0, documents_ = 0;
  std::uint32_t checksum_ = 0;
};

}  // namespace strata::data
