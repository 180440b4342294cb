// TFRecord: records between masked checksums; plain, or the whole file compressed by gzip or zlib.
//
//   u64 length, u32 masked CRC-32C of these 8 bytes, the bytes, u32 masked CRC-32C of the bytes
//
// Source: tensorflow/core/lib/io/record_reader.cc. Deviations: zstd, xz and bzip2 are read and
// written too, told by how the file begins or by the ending of its name; both checksums are always
// verified.
#pragma once

#include <memory>
#include <string>

#include "strata/data/compression/stream.h"
#include "strata/data/format/records.h"

namespace strata::data {

/// A record whose bytes have a wrong checksum is passed over by the next call; where a length has
/// one nobody knows where the next record begins, and the file ends there.
class TfRecordReader : public RecordScanner {
 public:
  static Result<std::unique_ptr<RecordScanner>> open(const std::string& path);
  /// Of bytes that the caller keeps.
  static std::unique_ptr<RecordScanner> of(std::string_view bytes, std::string name);
  explicit TfRecordReader(Input input) : input_(std::move(input)) {}
  Result<bool> next(std::string_view& record) override;
  /// Where the next record begins in the unpacked file, and going there.
  std::uint64_t position() const { return input_.position(); }
  Status skip(std::uint64_t bytes) { return input_.skip(bytes); }
  std::uint64_t passed() const override { return input_.passed(); }
  std::uint64_t file_bytes() const override { return input_.file_bytes(); }

 private:
  Status end(Status why);
  Input input_;
  std::int64_t index_ = -1;
  bool ended_ = false;
};

class TfRecordWriter : public RecordWriter {
 public:
  static Result<std::unique_ptr<RecordWriter>> create(const std::string& path);
  explicit TfRecordWriter(Output output) : output_(std::move(output)) {}
  Status add(std::string_view record) override;
  Status close() override { return output_.close(); }

 private:
  Output output_;
};

/// A checksum as the format stores it.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace strata::data
