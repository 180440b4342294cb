// Files as pipelines read them: by number (`RecordSource`) or in order (`RecordStream`).
//
//   auto source = open_source("train.array_record", {});
//   source->read(7);                                       // bytes; of MDS a dict of columns
//
//   auto stream = open_stream("train.tfrecord.gz", {.damage = DamagePolicy::skip});
//   auto reader = stream->open();
#pragma once

#include <memory>
#include <string>

#include "strata/base/result.h"
#include "strata/data/format/elements.h"
#include "strata/data/source.h"

namespace strata::data {

/// ArrayRecord, Bagz, MDS, Megatron, Parquet, Arrow and folders of Hugging Face in these, whose
/// records are found by number; Code::unsupported for others. Records of ArrayRecord and Bagz are
/// bytes. Checksums are verified whatever the policy says. A damaged record is none where the
/// policy skips it, and a line of `quarantine_folder`/damaged.jsonl where it says so.
Result<std::shared_ptr<const RecordSource>> open_source(const std::string& path,
                                                        const ReadPolicy& policy,
                                                        const std::string& format = "");

/// Any format of `element_formats`. States are {"next_index": n}, of TFRecord {"reader_offset": n}
/// as Grain's: bytes of the unpacked file; its records are bytes. Of Parquet they are Grain's too:
/// {"row_group": g, "index_within_row_group": i}. Damaged records are passed over
/// where the policy skips them.
Result<std::shared_ptr<const RecordStream>> open_stream(const std::string& path,
                                                        const ReadPolicy& policy,
                                                        const std::string& format = "",
                                                        const ElementOptions& options = {});

}  // namespace strata::data
