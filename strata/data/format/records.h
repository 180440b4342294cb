// Files of records that are bytes: one interface to read them in order, at random, and to write.
//
//   auto reader = TfRecordReader::open("train.tfrecord.gz");
//   std::string_view record;
//   for (;;) {
//     auto more = (*reader)->next(record);
//     if (!more) return more.status();
//     if (!*more) break;
//     use(record);
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "strata/base/result.h"
#include "strata/data/element.h"

namespace strata::data {

class RecordScanner {
 public:
  virtual ~RecordScanner() = default;
  /// The next record, which lives until the next call; false at the end. Checksums of the format
  /// are verified. After Code::corrupt the next call goes on behind the damage where the format
  /// lets one find that place; elsewhere it says false.
  virtual Result<bool> next(std::string_view& record) = 0;
  /// How far it is: bytes of the file passed, and all of them.
  virtual std::uint64_t passed() const = 0;
  virtual std::uint64_t file_bytes() const = 0;
};

class RecordWriter {
 public:
  virtual ~RecordWriter() = default;
  virtual Status add(std::string_view record) = 0;
  /// Makes the file durable under its name; without it nothing stays.
  virtual Status close() = 0;
};

/// Records by number. Any threads may read at once.
class RecordFile {
 public:
  virtual ~RecordFile() = default;
  virtual std::int64_t size() const = 0;
  /// Record `index` of 0 .. size() - 1.
  virtual Result<std::string> read(std::int64_t index) const = 0;
  /// Several records as elements of bytes, into as many places; ends with the first failure. Bytes
  /// are views of what they keep alive, such as the mapped file. The default copies each.
  virtual Status read_many(std::span<const std::int64_t> indices, std::span<Element> out) const;
  /// Fetches `count` records from `first` on in few requests, where the file is an object in a
  /// bucket: they are read next.
  virtual Status fetch(std::int64_t first, std::int64_t count) const {
    (void)first, (void)count;
    return {};
  }
};

inline Status RecordFile::read_many(std::span<const std::int64_t> indices,
                                    std::span<Element> out) const {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    auto record = read(indices[i]);
    if (!record) return record.status();
    out[i] = Element::bytes(std::move(*record));
  }
  return {};
}

/// Gives `take` every record; ends with the first failure.
template <class Take>
Status each_record(RecordScanner& reader, Take take) {
  for (std::string_view record;;) {
    auto more = reader.next(record);
    if (!more) return more.status();
    if (!*more) return {};
    take(record);
  }
}

}  // namespace strata::data
