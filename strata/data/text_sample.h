// A sample of texts, spread evenly over all of them, in bounded memory.
//
//   auto pieces = data::sample_documents(files, {}, 10'000'000);
#pragma once

#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/data/documents.h"

namespace strata::data {

/// Pieces of the documents of files, in their order, some `bytes` together; all of them where they
/// have no more. A piece ends behind the first line end at or behind 64 KiB, or with its document;
/// piece after piece is taken where what was taken so far is less than this share of what was
/// passed. The files are read twice, as streams: what is held is what is taken, and one piece.
/// Fails as `stream_documents`, and where a file changed between both readings is Code::invalid.
Result<std::vector<std::string>> sample_documents(const std::vector<std::string>& files,
                                                  const DocumentOptions& options, double bytes);

}  // namespace strata::data
