// ArrayRecord: records by number, in Riegeli chunks, with an index at the end of the file.
//
//   auto file = ArrayRecordFile::open("train.array_record");
//   auto record = file->read(17);
//
//   auto writer = ArrayRecordWriter::create("out.array_record", {.group_size = 1});
//   writer->add("first"), writer->close();
//
// Source: google/array_record, cpp/array_record_writer.cc, array_record_reader.cc, layout.proto.
// Files that are not compressed are byte for byte those of the original for the same options.
// Deviation: no transposed chunks.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "strata/base/large_file.h"
#include "strata/base/partial_file.h"
#include "strata/data/format/records.h"
#include "strata/data/format/riegeli/riegeli.h"

namespace strata::data {

class ArrayRecordFile : public RecordFile {
 public:
  /// Maps the file, and reads and checks its index. Of an object in a bucket the index is fetched
  /// here, and the chunks of records when they are read.
  static Result<std::shared_ptr<const ArrayRecordFile>> open(const std::string& path);
  /// Of bytes that the caller keeps.
  static Result<std::shared_ptr<const ArrayRecordFile>> of(std::string_view bytes,
                                                           std::string name);
  std::int64_t size() const override { return records_; }
  /// Reads and checks the record's chunk; the last one read is kept.
  Result<std::string> read(std::int64_t index) const override;
  /// Returns views of the mapped file for uncompressed chunks. Decompressed records share one
  /// allocation for this call, or that of their chunk where a chunk holds several records.
  Status read_many(std::span<const std::int64_t> indices, std::span<Element> out) const override;
  /// Records of a chunk; as the writer was told.
  std::int64_t group_size() const { return group_; }
  /// The writer's options as it noted them.
  const std::string& options() const { return options_; }
  std::string_view bytes() const { return bytes_; }
  const std::string& name() const { return name_; }

 private:
  friend class ArrayRecordReader;
  struct Place {
    std::uint64_t offset, decoded_size, records;
  };
  /// A chunk and its records.
  struct Group {
    std::int64_t number = -1;
    std::string gathered, unpacked;
    std::vector<std::string_view> records;
    std::shared_ptr<const PartialFile> file;  // where they may be
  };
  Result<std::shared_ptr<const Group>> group(std::int64_t number) const;
  Status read_single(std::span<const std::int64_t> indices, std::span<Element> out) const;
  Status read_index();
  Status read_group(std::int64_t number, Group& out) const;
  /// Where a chunk of records is in the file.
  PartialFile::Range extent(std::int64_t number) const;
  /// Fetches what is read next where the file is an object's.
  Status need(std::span<const PartialFile::Range> ranges) const {
    return file_ ? file_->need(ranges) : Status();
  }
  Status need(std::uint64_t offset, std::uint64_t length) const {
    return file_ ? file_->need(offset, length) : Status();
  }
  Status need_records(std::span<const std::int64_t> indices) const;
  std::shared_ptr<const PartialFile> file_;
  std::string_view bytes_;
  std::string name_, options_;
  std::vector<Place> places_;
  std::int64_t records_ = 0, group_ = 1;
  std::uint64_t footer_ = 0;  // where the index begins
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Group> last_;
};

/// Records in order; a damaged chunk is passed over by the next call.
class ArrayRecordReader : public RecordScanner {
 public:
  static Result<std::unique_ptr<RecordScanner>> open(const std::string& path);
  explicit ArrayRecordReader(std::shared_ptr<const ArrayRecordFile> file)
      : file_(std::move(file)) {}
  Result<bool> next(std::string_view& record) override;
  std::uint64_t passed() const override;
  std::uint64_t file_bytes() const override { return file_->bytes().size(); }

 private:
  Status fetch_ahead();
  std::shared_ptr<const ArrayRecordFile> file_;
  ArrayRecordFile::Group group_;
  std::size_t at_ = 0;
  std::int64_t next_group_ = 0;
  std::uint64_t released_ = 0, fetched_ = 0;
};

struct ArrayRecordOptions {
  /// Records of a chunk. One serves reading at random, more compress better.
  std::int64_t group_size = 1;
  BlockCompression compression = BlockCompression::zstd;
};

class ArrayRecordWriter : public RecordWriter {
 public:
  /// Throws Error for a group size below 1.
  static Result<std::unique_ptr<RecordWriter>> create(const std::string& path,
                                                      const ArrayRecordOptions& options = {});
  Status add(std::string_view record) override;
  Status close() override;

 private:
  ArrayRecordWriter(FileWriter file, const ArrayRecordOptions& options);
  Status end_group();
  Status flush();
  FileWriter file_;
  ArrayRecordOptions options_;
  riegeli::ChunkWriter chunks_;
  std::string group_;                // records of the open chunk, one after the other
  std::vector<std::size_t> ends_;    // of them
  std::vector<std::string> footer_;  // one message a chunk
  std::uint64_t records_ = 0;
};

}  // namespace strata::data
