// Text files as documents: a plain file is one, a line of a JSONL file is one; compressed by gzip,
// zstd, xz or bzip2 or not.
//
//   auto documents = data::read_documents("notes.jsonl", {.column = "text"});
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"

namespace strata::data {

struct DocumentOptions {
  /// JSONL: the member of each object that holds the text.
  std::string column = "text";
};

/// Files whose names end in ".jsonl", or in that and a compression's ending (".jsonl.gz"), are
/// JSONL: an object on each line (blank lines are passed over). Compressed files are told by how
/// they begin, and their checksums verified. Empty texts are no documents, so the list may be
/// empty. Code::invalid for what is no text: with a NUL byte, or not UTF-8, and for lines that are
/// no such objects; the message says where.
Result<std::vector<std::string>> read_documents(const std::string& path,
                                                const DocumentOptions& options = {});
/// Takes documents in pieces of whole characters; each has at least one byte.
class TextSink {
 public:
  virtual ~TextSink() = default;
  virtual Status add(std::string_view piece) = 0;
  virtual Status end_document() = 0;
};
/// Gives the documents of `read_documents` in their order, in memory that does not grow with the
/// file: of a line of JSONL at once, of a plain text a megabyte. Fails as that does, but may have
/// given documents that stand before the fault.
Status stream_documents(const std::string& path, const DocumentOptions& options, TextSink& out);
/// The documents of a file's bytes.
Result<std::vector<std::string>> documents_of(std::string bytes, const std::string& path,
                                              const DocumentOptions& options = {});

}  // namespace strata::data
