// Megatron-LM's indexed datasets: tokens in PREFIX.bin, where sequences and documents begin in
// PREFIX.idx.
//
//   auto file = MegatronFile::open("corpus_text_document.bin");
//   file->sequence(3);                                         // Literal: u16[n] or i32[n]
//
//   9 bytes "MMIDIDX\0\0", u64 version 1, u8 type, u64 S, u64 D, i32 lengths[S], i64 places[S],
//   i64 documents[D] (the first sequence of each, and S), for multimodal files i8 modes[S]
//
// Source: NVIDIA/Megatron-LM, megatron/core/datasets/indexed_dataset.py. The format has no
// checksums: what is found are sizes that do not fit together.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "strata/base/large_file.h"
#include "strata/type/literal.h"

namespace strata::data {

class MegatronFile {
 public:
  /// PREFIX, PREFIX.bin or PREFIX.idx.
  static Result<MegatronFile> open(const std::string& path);
  /// Of bytes that the caller keeps.
  static Result<MegatronFile> of(std::string_view index, std::string_view tokens,
                                 const std::string& name);
  /// Sequences, and documents of one or more sequences.
  std::int64_t size() const { return size_; }
  std::int64_t documents() const { return documents_ - 1; }
  DType dtype() const { return dtype_; }
  /// The tokens of a sequence, rank 1.
  Literal sequence(std::int64_t index) const;
  /// Tokens begin .. begin + out.size() - 1 of a sequence, which are integers.
  void copy(std::int64_t index, std::int64_t begin, std::span<std::int64_t> out) const;
  /// The number of tokens of a sequence, and of all of them.
  std::int32_t length(std::int64_t index) const;
  std::vector<std::int32_t> lengths() const;
  /// CRC-32C of all lengths and tokens.
  std::uint32_t checksum() const;
  /// The first sequence of a document; of documents(), size().
  std::int64_t document(std::int64_t index) const;
  /// Of a multimodal file the sequence's mode.
  std::optional<int> mode(std::int64_t index) const;

 private:
  std::shared_ptr<const MappedFile> index_file_, token_file_;
  std::string_view tokens_, lengths_, places_, document_places_, modes_;
  std::int64_t size_ = 0, documents_ = 0;
  DType dtype_ = DType::i32;
};

/// Writes both files; the index last, so that one without the other is no dataset.
class MegatronWriter {
 public:
  /// Code::unsupported for types that the format has no code for.
  static Result<MegatronWriter> create(const std::string& path, DType dtype);
  /// The type Megatron takes for a vocabulary: u16 below 65500, else i32.
  static DType best_dtype(std::int64_t vocab_size);
  /// A sequence of the writer's type, rank 1. Code::invalid for another one.
  Status add(const Literal& sequence);
  /// Ends a document behind the sequences added since the last one.
  void end_document() { documents_.push_back(std::ssize(lengths_)); }
  Status close();

 private:
  MegatronWriter(FileWriter tokens, FileWriter index, DType dtype)
      : tokens_(std::move(tokens)), index_(std::move(index)), dtype_(dtype) {}
  FileWriter tokens_, index_;
  DType dtype_;
  std::string buffer_;
  std::vector<std::int32_t> lengths_;
  std::vector<std::int64_t> places_, documents_ = {0};
  std::int64_t bytes_ = 0;
};

}  // namespace strata::data
