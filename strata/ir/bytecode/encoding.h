// The primitives of MLIR's bytecode: bytes, integers of variable width, names, sections. Nothing
// that is read is trusted.
//
//   ByteReader r(bytes);
//   std::uint64_t operands = r.count("operands");   // fails unless as many bytes may follow
//
// An integer of variable width has as many zero bits below its first one as bytes follow the first;
// nine bytes for 64 bits. Signed ones keep their sign in the lowest bit. Source:
// mlir/docs/BytecodeFormat.md.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "strata/base/result.h"

namespace strata::ir::bytecode {

/// The first four bytes of every program in bytecode.
inline constexpr std::string_view kMagic = "ML\xefR";

/// Thrown inside the reader and the writer alone; `read_bytecode` and `write_bytecode` turn it into
/// a Status. `offset`: in the file.
struct FormatError {
  Code code;
  std::size_t offset;
  std::string message;
};

/// What a section holds, by its number.
enum class Section : std::uint8_t {
  strings,
  dialects,
  attributes_and_types,
  offsets,
  ir,
  resources,
  resource_offsets,
  dialect_versions,
  properties
};
inline constexpr std::size_t kSections = 9;

/// A place in some bytes of a file, which begin at `base` in it. `what` names what was expected,
/// for messages.
class ByteReader {
 public:
  ByteReader() = default;
  explicit ByteReader(std::string_view bytes, std::size_t base = 0) : bytes_(bytes), base_(base) {}

  std::size_t offset() const { return base_ + at_; }
  std::size_t remaining() const { return bytes_.size() - at_; }
  bool at_end() const { return remaining() == 0; }

  std::uint8_t byte(std::string_view what);
  std::uint64_t varint(std::string_view what);
  std::int64_t signed_varint(std::string_view what);
  /// A number and the flag in its lowest bit.
  std::pair<std::uint64_t, bool> flagged(std::string_view what);
  /// A number below `limit`.
  std::size_t index(std::size_t limit, std::string_view what);
  /// How many things follow that take a byte or more each.
  std::size_t count(std::string_view what);
  std::string_view bytes(std::uint64_t size, std::string_view what);
  /// The characters before the next zero, which is consumed.
  std::string_view terminated(std::string_view what);
  /// A part of its own.
  ByteReader part(std::uint64_t size, std::string_view what);
  /// A number and so many bytes.
  ByteReader blob(std::string_view what) { return part(varint(what), what); }
  std::pair<Section, ByteReader> section();
  void expect_end(std::string_view what);

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw FormatError{Code::invalid, offset(), fmt::format(format, std::forward<Args>(args)...)};
  }
  template <class... Args>
  [[noreturn]] void unsupported(fmt::format_string<Args...> format, Args&&... args) const {
    throw FormatError{Code::unsupported, offset(),
                      fmt::format(format, std::forward<Args>(args)...)};
  }

 private:
  std::string_view bytes_;
  std::size_t base_ = 0, at_ = 0;
};

/// The inverse.
class ByteWriter {
 public:
  void byte(std::uint8_t value) { out_ += static_cast<char>(value); }
  void varint(std::uint64_t value);
  void signed_varint(std::int64_t value);
  void flagged(std::uint64_t value, bool flag) { varint(value << 1 | (flag ? 1 : 0)); }
  void bytes(std::string_view value) { out_ += value; }
  void blob(std::string_view value) {
    varint(value.size());
    bytes(value);
  }
  void terminated(std::string_view value) {
    bytes(value);
    byte(0);
  }
  void section(Section id, std::string_view data);
  const std::string& text() const { return out_; }

 private:
  std::string out_;
};

}  // namespace strata::ir::bytecode
