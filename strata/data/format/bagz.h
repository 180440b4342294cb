// Bagz: records back to back and the place where each ends; `.bagz` holds every record as a zstd
// frame of its own, `.bag` as it is.
//
//   auto file = BagzFile::open("train@3.bagz");    // train-00000-of-00003.bagz and on
//   file->read(17);
//
//   records | u64 end of each record                the ends, or `limits.NAME` beside the file
//
// Source: google-deepmind/bagz, src/bagz_writer.cc, src/bagz_reader.cc. The format has no checksums
// of its own: what is found are ends out of order and frames that do not unpack.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strata/base/large_file.h"
#include "strata/base/partial_file.h"
#include "strata/data/format/records.h"

namespace strata::data {

class BagzFile : public RecordFile {
 public:
  /// `name@N.bagz` and `name@*.bagz` are shards, read one after the other. Of an object in a
  /// bucket the ends of records are fetched here, and records when they are read.
  static Result<std::shared_ptr<const BagzFile>> open(const std::string& path);
  /// One file's bytes; `compressed` as a .bagz is. `limits`: those of a file apart, else they are
  /// at the end. The caller keeps both.
  static Result<std::shared_ptr<const BagzFile>> of(std::string_view bytes, bool compressed,
                                                    const std::string& name,
                                                    std::string_view limits = {});
  std::int64_t size() const override { return size_; }
  Result<std::string> read(std::int64_t index) const override;
  /// Views of the file of a .bag; of a .bagz, of one block for all of the call.
  Status read_many(std::span<const std::int64_t> indices, std::span<Element> out) const override;
  Status fetch(std::int64_t first, std::int64_t count) const override;

 private:
  struct Shard {
    std::shared_ptr<const PartialFile> file, limits_file;
    std::string_view records, limits;
    std::string name;
    bool compressed = true;
    std::int64_t first = 0;  // record of all
  };
  Status add(Shard shard);
  const Shard& shard_of(std::int64_t index) const;
  /// Returns the record's stored bytes, compressed where the shard is.
  static std::string_view packed(const Shard& shard, std::int64_t index);
  /// Fetches records where they are of objects.
  Status need(std::span<const std::int64_t> indices) const;
  /// Adds the record to `out`.
  static Status unpack_record(const Shard& shard, std::int64_t index, std::string& out);
  std::vector<Shard> shards_;
  std::int64_t size_ = 0;
};

class BagzWriter : public RecordWriter {
 public:
  /// Compresses unless the name ends in ".bag".
  static Result<std::unique_ptr<RecordWriter>> create(const std::string& path);
  Status add(std::string_view record) override;
  Status close() override;

 private:
  BagzWriter(FileWriter file, bool compressed) : file_(std::move(file)), compressed_(compressed) {}
  FileWriter file_;
  bool compressed_;
  std::string ends_, buffer_;
  std::uint64_t end_ = 0;
};

}  // namespace strata::data
