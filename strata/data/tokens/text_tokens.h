// Texts of a source as tokens: from the cache, in memory, or streamed to a file. Private to this
// room.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/data/documents.h"
#include "strata/data/row_options.h"
#include "strata/data/tokens/token_file.h"

namespace strata::data {

/// Looks at texts once: counts them, names them, and keeps them while they are small.
class TextsSeen : public TextSink {
 public:
  /// `most` is how many bytes of texts are kept.
  TextsSeen(const tokenizer::Tokenizer& tokenizer, std::int64_t most);
  Status add(std::string_view piece) override;
  Status end_document() override;

  std::int64_t documents() const { return documents_; }
  std::int64_t bytes() const { return bytes_; }
  /// Whether `texts` holds all of them.
  bool kept() const { return bytes_ <= most_; }
  const std::vector<std::string>& texts() const { return texts_; }
  /// Names the tokens of these documents: 32 bits of CRC-32C and 64 of FNV-1a over words. Not proof
  /// against those who look for two texts of one name, only against chance.
  std::string cache_name() const;

 private:
  void mix(std::uint64_t word);
  std::int64_t most_, documents_ = 0, bytes_ = 0, document_bytes_ = 0;
  bool open_ = false;  // texts_.back() is not at its end
  std::vector<std::string> texts_;
  std::uint32_t crc_;
  std::uint64_t fnv_ = 0xcbf29ce484222325u;
  std::string word_;  // bytes that make no whole word yet
};

/// Gives the same texts once more.
using ReadAgain = std::function<Status(TextSink&)>;

/// Tokens of texts, from the cache where they are there. Texts that were kept are encoded in
/// memory. Others are read a second time and encoded a few megabytes at a time, and their tokens go
/// to a file, which is mapped: the cache's, or where there is none a nameless one. `name` is the
/// source's, for messages.
Result<Tokens> tokens_of(const TextsSeen& seen, const ReadAgain& again, const std::string& name,
                         const tokenizer::Tokenizer& tokenizer, const RowOptions& options);

/// Tokens of texts in memory.
Tokens encode_texts(const std::vector<std::string>& documents, const std::string& name,
                    const tokenizer::Tokenizer& tokenizer, const RowOptions& options);

}  // namespace strata::data
