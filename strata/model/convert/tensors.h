// Tensors of files as rows of f32, one row at a time, so that none need be in memory as a whole.
// Private to strata/model/convert.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "strata/base/large_file.h"
#include "strata/base/result.h"
#include "strata/checkpoint/gguf.h"
#include "strata/checkpoint/safetensors.h"

namespace strata::model::conversion {

using checkpoint::GgufType;
using Sizes = std::vector<std::int64_t>;

/// Where a tensor is, in which type.
struct Stored {
  Sizes shape;
  GgufType type = DType::f32;
  std::string_view bytes;
  std::shared_ptr<const MappedFile> file;

  std::int64_t elements() const;
  /// Of the last dimension.
  std::int64_t row_length() const { return shape.empty() ? 1 : shape.back(); }
  std::int64_t rows() const { return elements() / row_length(); }
};

/// Tensors by name.
using StoredTensors = std::map<std::string, Stored>;

/// Those of a GGUF file, of all its parts.
Result<StoredTensors> stored_in(const checkpoint::Gguf& file);
/// Those of a Hugging Face directory: model.safetensors, or what its index lists.
Result<StoredTensors> stored_in_folder(const std::string& folder);

/// How a tensor is changed on the way.
struct Change {
  /// Rows of so many heads change their order; 0: not. From Hugging Face's to GGUF's: row j of half
  /// b of a head becomes row 2 j + b.
  std::int64_t paired_heads = 0;
  bool to_gguf = true;
  double plus = 0;          // is added to each element
  bool transposed = false;  // rows are the source's columns
  /// Of a tensor of so many experts, one's rows; 0: all rows.
  std::int64_t expert = 0, experts = 0;
};

/// A tensor's rows as they will be written.
class Rows {
 public:
  Rows(const Stored& from, const Change& change) : from_(from), change_(change) {}
  std::int64_t rows() const;
  std::int64_t row_length() const;
  /// Row i, f32. Code::corrupt for a block whose scale is not finite, Code::unsupported for
  /// integers.
  Status read(std::int64_t i, float* out) const;

 private:
  /// A bias whose elements change their order: each is a row.
  bool is_column() const { return change_.paired_heads > 0 && from_.shape.size() == 1; }
  Status source_row(std::int64_t i, std::int64_t begin, std::int64_t count, float* out) const;
  const Stored& from_;
  Change change_;
};

/// A row of f32 in a type, added to `out`. Throws Error where a number has no place in it.
void append_row(const float* row, std::int64_t length, const GgufType& type, std::string& out);
/// Bytes of a row.
std::int64_t row_bytes(const GgufType& type, std::int64_t length);

}  // namespace strata::model::conversion
