// What a GGUF file (gguf.h) holds: values of its metadata, and tensors with how they are stored.
// The functions are defined in gguf_types.cc, which knows the file's numbers of types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "strata/type/block_format.h"
#include "strata/type/codebook_format.h"
#include "strata/type/dtype.h"

namespace strata::checkpoint {

/// A value of the metadata, of the type that the file says.
using GgufValue =
    std::variant<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                 std::int32_t, float, bool, std::string, std::vector<std::uint8_t>,
                 std::vector<std::int8_t>, std::vector<std::uint16_t>, std::vector<std::int16_t>,
                 std::vector<std::uint32_t>, std::vector<std::int32_t>, std::vector<float>,
                 std::vector<bool>, std::vector<std::string>, std::vector<std::uint64_t>,
                 std::vector<std::int64_t>, std::vector<double>, std::uint64_t, std::int64_t,
                 double>;
/// The file's keys in its order.
using GgufMetadata = std::vector<std::pair<std::string, GgufValue>>;

/// The value of a key, or null.
const GgufValue* find(const GgufMetadata& metadata, std::string_view key);
/// A value as a number where it is one (booleans are none).
std::optional<std::int64_t> as_integer(const GgufValue& value);
std::optional<double> as_number(const GgufValue& value);
/// The type's name as in ggml's description: "u32", "string", "array of f32".
std::string type_name(const GgufValue& value);

/// How a tensor's elements are stored: plain, or in blocks along its last dimension.
class GgufType {
 public:
  GgufType(DType dtype) : plain_(dtype) {}        // NOLINT: f32, f16, bf16, f64, i8 ... i64
  GgufType(BlockFormat block) : block_(block) {}  // NOLINT
  GgufType(CodebookFormat codebook) : codebook_(codebook) {}  // NOLINT
  /// "F32", "Q4_K", ...: nothing for names that are none, or of formats that Strata does not have.
  static std::optional<GgufType> named(std::string_view name);
  const std::optional<BlockFormat>& block() const { return block_; }
  /// A format that is read as numbers and is no other way in memory.
  const std::optional<CodebookFormat>& codebook() const { return codebook_; }
  bool is_plain() const { return !block_ && !codebook_; }
  /// Elements that stand together, 1 of plain ones, and their bytes.
  int group_elements() const;
  int group_bytes() const;
  /// The dtype of a tensor that is not packed.
  DType plain() const { return plain_; }
  /// ggml's name.
  std::string name() const;
  bool operator==(const GgufType&) const = default;

 private:
  DType plain_ = DType::ui8;
  std::optional<BlockFormat> block_;
  std::optional<CodebookFormat> codebook_;
};

/// A tensor of a file.
struct GgufTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  GgufType type = DType::f32;
  /// Where its bytes begin behind the header; the writer sets it.
  std::uint64_t offset = 0;
  /// Which file of a model in several holds it, from 0.
  std::uint32_t part = 0;

  std::int64_t elements() const;
  std::uint64_t bytes() const;
};

}  // namespace strata::checkpoint
