// Numbers packed as places in a codebook, below four bits an element: GGUF's IQ1, IQ2 and IQ3. They
// are read, as f32; there is no encoder (it wants activations), and no product of them as they are.
//
//   CodebookFormat f = *CodebookFormat::find("IQ2_XS");
//   f.dequantize(blocks, count, numbers);           // count blocks -> count * 256 f32
//
// Source: ggml, src/ggml-common.h (layouts, codebooks). Values are the bits that gguf-py's
// dequantiser gives.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace strata {

/// The formats by their names in ggml.
enum class CodebookKind : std::uint8_t { iq1_s, iq1_m, iq2_xxs, iq2_xs, iq2_s, iq3_xxs, iq3_s };

/// A format of packed blocks; a value, compared by what it names.
class CodebookFormat {
 public:
  CodebookFormat(CodebookKind kind) : kind_(kind) {}  // NOLINT: a kind is a format
  /// The format of a name, "IQ1_S" ... "IQ3_S", or nothing.
  static std::optional<CodebookFormat> find(std::string_view name);

  CodebookKind kind() const { return kind_; }
  /// ggml's name: "IQ2_XS".
  const char* name() const;
  /// Elements of a block, and its bytes.
  int elements() const { return 256; }
  int bytes() const;
  /// The numbers of `count` blocks, `count * elements()` of them.
  void dequantize(const std::uint8_t* blocks, std::int64_t count, float* numbers) const;

  bool operator==(const CodebookFormat&) const = default;

 private:
  CodebookKind kind_;
};

}  // namespace strata
