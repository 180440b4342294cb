// Conversion in shards, which goes on after it was ended anywhere: each shard is whole or not
// there, and a journal beside them says which are done.
//
//   convert_in_shards("train.jsonl.zst", "train.array_record", 100000, {});
//   // train-00000-of-00012.array_record ... train-00011-of-00012.array_record
#pragma once

#include <cstdint>
#include <string>

#include "strata/base/result.h"
#include "strata/data/format/elements.h"

namespace strata::data {

/// What a conversion in shards did.
struct ConvertedShards {
  /// Of all shards, those of earlier calls among them.
  Converted total;
  std::int64_t shards = 0;
  /// Records that earlier calls had written.
  std::int64_t resumed = 0;
};

/// Writes what `from` holds as shards of `shard_records` records: `NAME-00000-of-N.ENDING` for `to`
/// = NAME.ENDING, N with five digits or more. While it runs they are named `NAME-00000-of-XXXXX`,
/// and `to`.journal has a line for each that is done; the same call after a kill at any moment goes
/// on behind them, so every record stands in one shard. Shards of before are read past, not written
/// again. With `quarantine` each shard with damaged records has its own `.quarantine.jsonl`.
/// Code::invalid where the journal is of another conversion: of a source that has changed since, or
/// of other options; Code::exists while another process converts to the same name. Source of the
/// names: array_record and datasets, `name-%05d-of-%05d`.
Result<ConvertedShards> convert_in_shards(const std::string& from, const std::string& to,
                                          std::int64_t shard_records,
                                          const ConvertOptions& options);

}  // namespace strata::data
