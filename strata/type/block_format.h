// Numbers packed in blocks, as GGUF files hold weights: a few bits an element, and a scale (and a
// minimum) for each block.
//
//   BlockFormat f = BlockFormat::named("Q4_K");
//   f.elements();                                   // 256: elements of a block
//   f.bytes();                                      // 144: its bytes
//   f.dequantize(blocks, count, numbers);           // count blocks -> count * 256 f32
//
// A matrix in a format is an array of bytes (ui8): each row is so many whole blocks, one after the
// other.
//
// Source: ggml, src/ggml-common.h (layouts) and src/ggml-quants.c (decoders and the encoders
// `quantize_row_*_ref`). Values are the bits that gguf-py's dequantiser gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace strata {

/// The formats by their names in ggml.
enum class BlockKind : std::uint8_t {
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq4_nl,
  iq4_xs,
  mxfp4
};

/// How one block of a format is laid out and what its elements are.
struct BlockLayout {
  BlockKind kind;
  const char* name;
  int elements, bytes;
  bool can_quantize;  // whether there is an encoder
};

/// All formats, in the order of BlockKind.
inline constexpr BlockLayout kBlockLayouts[] = {
    {BlockKind::q4_0, "Q4_0", 32, 18, true},      {BlockKind::q4_1, "Q4_1", 32, 20, true},
    {BlockKind::q5_0, "Q5_0", 32, 22, false},     {BlockKind::q5_1, "Q5_1", 32, 24, false},
    {BlockKind::q8_0, "Q8_0", 32, 34, true},      {BlockKind::q2_k, "Q2_K", 256, 84, false},
    {BlockKind::q3_k, "Q3_K", 256, 110, false},   {BlockKind::q4_k, "Q4_K", 256, 144, true},
    {BlockKind::q5_k, "Q5_K", 256, 176, false},   {BlockKind::q6_k, "Q6_K", 256, 210, false},
    {BlockKind::iq4_nl, "IQ4_NL", 32, 18, false}, {BlockKind::iq4_xs, "IQ4_XS", 256, 136, false},
    {BlockKind::mxfp4, "MXFP4", 32, 17, false},
};

/// The 16 values of an IQ4_NL or IQ4_XS nibble, before the scale.
inline constexpr std::int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                               1,    13,   25,  38,  53,  69,  89,  113};
/// The 16 values of an MXFP4 nibble (E2M1), doubled.
inline constexpr std::int8_t kMxfp4Values[16] = {0, 1,  2,  3,  4,  6,  8,  12,
                                                 0, -1, -2, -3, -4, -6, -8, -12};

/// A format of packed blocks; a value, compared by what it names.
class BlockFormat {
 public:
  BlockFormat() = default;                      // Q8_0
  BlockFormat(BlockKind kind) : kind_(kind) {}  // NOLINT: a kind is a format
  /// The format of a name, "Q4_0" ... "MXFP4". Throws Error, which lists the names, for another one
  /// and for those whose codebooks Strata does not have (IQ1, IQ2, IQ3).
  static BlockFormat named(std::string_view name);
  /// The same, or nothing.
  static std::optional<BlockFormat> find(std::string_view name);

  BlockKind kind() const { return kind_; }
  /// ggml's name: "Q4_K".
  const char* name() const { return layout().name; }
  /// Elements of a block.
  int elements() const { return layout().elements; }
  /// Bytes of a block.
  int bytes() const { return layout().bytes; }
  /// Whether `quantize` knows the format.
  bool can_quantize() const { return layout().can_quantize; }
  /// Bytes of a row of so many elements. Throws Error unless they are whole blocks.
  std::int64_t row_bytes(std::int64_t row_elements) const;
  /// Elements of a row of so many bytes. Throws Error unless they are whole blocks.
  std::int64_t row_elements(std::int64_t row_bytes) const;

  /// The numbers of `count` blocks, `count * elements()` of them.
  void dequantize(const std::uint8_t* blocks, std::int64_t count, float* numbers) const;
  /// The blocks of `count * elements()` numbers, as ggml's reference encoder makes them. Throws
  /// Error for a format without one and for numbers that are not finite.
  void quantize(const float* numbers, std::int64_t count, std::uint8_t* blocks) const;

  bool operator==(const BlockFormat&) const = default;
  /// As a structure has it: a format is part of a tree's.
  std::string static_text() const { return name(); }

 private:
  const BlockLayout& layout() const { return kBlockLayouts[static_cast<int>(kind_)]; }
  BlockKind kind_ = BlockKind::q8_0;
};

/// The names of all formats: "Q4_0, Q4_1, ...".
std::string block_format_names();

}  // namespace strata
