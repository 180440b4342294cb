// Where records come from: files of any format, or memory, as a pipeline reads them.
//
//   auto source = open_somehow("train.array_record");      // Result<std::shared_ptr<Source...>>
//   source->size(); source->read(7);                       // an Element: bytes, or a dict of
//   columns
//
// Two interfaces: records that are found by number (ArrayRecord, Bagz, token files, Parquet with
// its index, memory) are a RecordSource; records that are only found one after the other (a
// compressed text, a TFRecord file without index) are a RecordStream.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "strata/base/result.h"
#include "strata/data/element.h"

namespace strata::data {

/// What a reader does about records whose checksum or form is wrong.
enum class DamagePolicy {
  fail,        // reading fails with Code::corrupt
  skip,        // the record reads as none and is counted
  quarantine,  // as skip; the raw bytes go to `quarantine_folder` too
};

struct ReadPolicy {
  /// Check every checksum that the format has.
  bool verify = true;
  DamagePolicy damage = DamagePolicy::fail;
  std::string quarantine_folder;
};

/// Where a record's bytes are.
struct RecordOrigin {
  std::string file;
  /// In the file, from 0.
  std::int64_t record = 0;
  /// Bytes in the file: the record itself, or, when it is compressed, what holds it. -1 where the
  /// source has no file.
  std::int64_t offset = -1, bytes = -1;
};

/// Records found by number. Immutable and safe to use from several threads.
class RecordSource {
 public:
  virtual ~RecordSource();
  virtual std::int64_t size() const = 0;
  /// Record 0 <= index < size(); none for one that the policy skips. Code::corrupt, Code::io
  /// otherwise. Bytes should be views of what the source maps or caches, not copies.
  virtual Result<Element> read(std::int64_t index) const = 0;
  /// Several at once, into as many places. A source that finds records in blocks overrides it so
  /// that a block is read once; the default reads each.
  virtual Status read_many(std::span<const std::int64_t> indices, std::span<Element> out) const;
  /// Names the data within a checkpoint, as Python's repr does in Grain
  /// ("ArrayRecordDataSource(paths=['a'])"), so that another data set is noticed at restore.
  virtual std::string name() const = 0;
  /// Where a record is; the source's name and number by default.
  virtual RecordOrigin origin(std::int64_t index) const;
  /// How many damaged records were skipped so far.
  virtual std::int64_t skipped() const { return 0; }
};

/// Reads a stream from its beginning or a saved place; one thread at a time.
class RecordReader {
 public:
  virtual ~RecordReader();
  /// Puts the next record into `out`; false at the end. After a failure every call fails alike.
  virtual Result<bool> next(Element& out) = 0;
  /// The place before the next record, as one JSON object; of Grain's form where Grain reads this
  /// format ({"reader_offset": n} for TFRecord).
  virtual std::string state() const = 0;
  /// Goes to a place; Code::invalid for a text that is no state of this stream.
  virtual Status set_state(const std::string& state) = 0;
  /// Where the last record came from.
  virtual RecordOrigin origin() const { return {}; }
};

/// Records found one after the other; open as often as wanted.
class RecordStream {
 public:
  virtual ~RecordStream();
  virtual Result<std::unique_ptr<RecordReader>> open() const = 0;
  virtual std::string name() const = 0;
};

}  // namespace strata::data
