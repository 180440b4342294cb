// Files of bytes as one reads and writes them in order, compressed or not.
//
//   auto input = Input::open("train.jsonl.zst");
//   for (;;) {
//     auto line = input->line();                 // a view that lives until the next call
//     if (!line || !line->data()) break;
//   }
//
//   auto output = Output::create("out.jsonl.gz");   // whole at `close`, or not there
//   output->write("{}\n");
//   output->close();
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "strata/base/large_file.h"
#include "strata/base/result.h"
#include "strata/data/compression/codec.h"

namespace strata::data {

/// Bytes in their order: a mapped file in place, or one that is unpacked as it is read. What is
/// held in memory is what was asked for at once, and a buffer.
class Input {
 public:
  /// `packing` says what compressed the file by how it begins; null for plain bytes.
  static Result<Input> open(const std::string& path,
                            const Compression* (*packing)(std::string_view) = compression_of);
  /// Of bytes that the caller keeps; messages call them `name`.
  static Input of(std::string_view bytes, std::string name, const Compression* compression);
  Input(Input&&) = default;
  Input& operator=(Input&&) = default;

  /// The next `size` bytes, fewer at the end of the file; they live until the next call. Pieces of
  /// more than `kMostAtOnce` of a compressed file are Code::corrupt: no record is that long.
  Result<std::string_view> take(std::size_t size);
  /// The same without passing them.
  Result<std::string_view> peek(std::size_t size);
  /// The next line without its line end; null data at the end.
  Result<std::string_view> line();
  /// Passes bytes; Code::corrupt where there are fewer.
  Status skip(std::uint64_t size);
  /// Bytes passed so far, of the unpacked stream.
  std::uint64_t position() const { return position_; }
  /// Bytes passed so far of the file itself, and how many there are: for progress.
  std::uint64_t passed() const;
  std::uint64_t file_bytes() const { return all_.size(); }
  const std::string& name() const { return name_; }
  bool compressed() const { return compression_ != nullptr; }

  static constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;

 private:
  Input() = default;
  Status fill(std::size_t size);
  void pass(std::size_t size);
  std::string name_;
  std::shared_ptr<const MappedFile> file_;
  std::string_view all_;   // the file
  std::string_view rest_;  // of the file, not yet given to the codec or the caller
  std::size_t released_ = 0;
  const Compression* compression_ = nullptr;
  std::unique_ptr<Codec> codec_;
  bool ended_ = false;  // of the stream, where another may follow
  std::string buffer_;
  std::size_t begin_ = 0;  // of what is valid in buffer_
  std::uint64_t position_ = 0;
};

/// A file that is whole or not there, written in order.
class Output {
 public:
  /// The compression is told by the ending of the name.
  static Result<Output> create(const std::string& path);
  static Result<Output> create(const std::string& path, const Compression* compression);
  Output(Output&&) = default;
  Status write(std::string_view bytes);
  /// Makes the file durable under its name.
  Status close();
  /// Bytes given to `write` so far.
  std::uint64_t written() const { return written_; }

 private:
  explicit Output(FileWriter file) : file_(std::move(file)) {}
  Status put(std::string_view bytes, bool last);
  FileWriter file_;
  std::unique_ptr<Codec> codec_;
  std::string buffer_;
  std::uint64_t written_ = 0;
};

/// All of `bytes` unpacked, at most `limit` bytes; Code::corrupt beyond.
Result<std::string> unpack(std::string_view bytes, const Compression& compression,
                           const std::string& name, std::size_t limit);
/// All of `bytes` packed.
Result<std::string> pack(std::string_view bytes, const Compression& compression);

}  // namespace strata::data
