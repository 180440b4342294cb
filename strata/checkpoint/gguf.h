// GGUF: one file that holds a model's metadata and tensors, many of them in packed blocks.
//
//   auto file = checkpoint::Gguf::open("model.gguf");
//   if (!file) return fail(file.status());
//   file->text("general.architecture");              // "llama"
//   const checkpoint::GgufTensor* t = file->tensor("blk.0.attn_q.weight");
//   Literal packed = file->bytes_of(*t);              // ui8 (rows, bytes of a row), not copied
//   auto numbers = file->numbers_of(*t);              // f32, dequantised
//
// A model in several files (NAME-00001-of-00003.gguf) is read through its first one as if it were
// one: tensors of all, keys of the first without split.*.
//
// Versions 2 and 3 are read, 3 is written. Shapes are as everywhere in Strata, the slowest
// dimension first (the file has them reversed). Every length is checked before it is used; limits:
// keys of 1 KiB, texts of 16 MiB, 2^16 keys, 2^17 tensors, arrays of 2^22 elements, of tokens 2^21,
// no arrays of arrays, rank 4.
//
// Source: ggml-org/ggml, docs/gguf.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strata/base/large_file.h"
#include "strata/base/result.h"
#include "strata/checkpoint/gguf_contents.h"
#include "strata/type/literal.h"

namespace strata::checkpoint {

/// A file that is open for reading. Copies share it.
class Gguf {
 public:
  /// Maps the file; tensors are read when they are asked for. Code::corrupt with what is wrong,
  /// Code::unsupported for version 1, for big-endian files and types that Strata does not have
  /// (names the tensor), for a part of a model that is not its first. Code::not_found for a part
  /// that is not there.
  static Result<Gguf> open(const std::string& path);
  /// Reads a file from memory, which must outlive this; error messages call it `name`.
  static Result<Gguf> decode(std::string_view bytes, const std::string& name);

  std::uint32_t version() const { return version_; }
  std::uint32_t alignment() const { return alignment_; }
  const GgufMetadata& metadata() const { return metadata_; }
  /// Tensors in the file's order.
  const std::vector<GgufTensor>& tensors() const { return tensors_; }
  /// The tensor of a name, or null.
  const GgufTensor* tensor(std::string_view name) const;

  /// The value of a key. Code::not_found, or Code::corrupt where it has another type.
  Result<std::string> text(std::string_view key) const;
  Result<std::int64_t> integer(std::string_view key) const;
  Result<double> number(std::string_view key) const;

  /// The file's path, or what it was called.
  const std::string& name() const { return name_; }
  /// The file that holds a tensor: this one, or a further part.
  const Gguf& file_of(const GgufTensor& tensor) const;
  /// All bytes of the file.
  std::string_view bytes() const { return bytes_; }
  /// The tensor's raw bytes, in the file's encoding.
  std::string_view raw(const GgufTensor& tensor) const;
  /// The same as an array that keeps the file open: of its dtype and shape where it is plain, else
  /// ui8, the last dimension the bytes of a row.
  Literal bytes_of(const GgufTensor& tensor) const;
  /// Its numbers in f32. Code::corrupt for a block whose scale is not finite, Code::unsupported for
  /// integers.
  Result<Literal> numbers_of(const GgufTensor& tensor) const;
  /// Gives back the memory of a tensor's pages (MappedFile::release).
  void release(const GgufTensor& tensor) const;

 private:
  /// Joins the further parts, where split.count says that there are any.
  Status add_parts();
  /// Fills by_name_.
  Status index();

  std::shared_ptr<const MappedFile> file_;
  std::vector<Gguf> parts_;
  std::string_view bytes_, data_;
  std::string name_;
  std::uint32_t version_ = 3, alignment_ = 32;
  GgufMetadata metadata_;
  std::vector<GgufTensor> tensors_;
  std::vector<std::size_t> by_name_;  // places in tensors_, by name
};

/// Writes a file of version 3, tensor by tensor, so that no two need be in memory:
///
///   auto writer = GgufWriter::create("model.gguf", metadata, tensors);
///   for (const GgufTensor& t : tensors)
///     if (Status s = writer->add(bytes_of(t)); !s) return s;
///   return writer->finish();
///
/// The alignment is that of the key general.alignment, else 32. The file is there when `finish` has
/// returned, and whole.
class GgufWriter {
 public:
  /// Writes the header. Throws Error for what a file cannot hold: a rank above 4, names that are
  /// too long or given twice, rows that are no whole blocks.
  static Result<GgufWriter> create(const std::string& path, const GgufMetadata& metadata,
                                   std::vector<GgufTensor> tensors);
  /// The bytes of the next tensor, whole or a part of them.
  Status add(std::string_view bytes);
  /// Throws Error where bytes are missing.
  Status finish();

 private:
  GgufWriter(FileWriter file, std::vector<GgufTensor> tensors, std::uint32_t alignment)
      : file_(std::move(file)), tensors_(std::move(tensors)), alignment_(alignment) {}
  FileWriter file_;
  std::vector<GgufTensor> tensors_;
  std::uint32_t alignment_;
  std::size_t next_ = 0;
  std::uint64_t in_tensor_ = 0;
};

/// The header as a file would hold it: up to where tensor data begins. Sets the offsets.
std::string encode_gguf_header(const GgufMetadata& metadata, std::vector<GgufTensor>& tensors);

}  // namespace strata::checkpoint
