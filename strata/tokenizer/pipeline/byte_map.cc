#include "strata/tokenizer/pipeline/byte_map.h"

#include <array>

#include "strata/tokenizer/unicode.h"

namespace strata::tokenizer {
namespace {

struct ByteMap {
  std::array<std::string, 256> characters;
  std::array<int, 0x180> bytes;
  ByteMap() {
    bytes.fill(-1);
    char32_t next = 0x100;
    for (char32_t b = 0; b < 256; ++b) {
      const bool itself = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b != 0xad);
      const char32_t c = itself ? b : next++;
      append(characters[b], c);
      bytes[c] = static_cast<int>(b);
    }
  }
};

const ByteMap& map() {
  static const ByteMap all;
  return all;
}

}  // namespace

void append_mapped(std::string& out, std::string_view bytes) {
  const ByteMap& m = map();
  for (char c : bytes) out += m.characters[static_cast<unsigned char>(c)];
}

void append_unmapped(std::string& out, std::string_view token) {
  const ByteMap& m = map();
  const std::size_t before = out.size();
  for (std::size_t at = 0; at < token.size();) {
    const CodePoint c = code_point_at(token, at);
    const int byte = c.value < m.bytes.size() ? m.bytes[c.value] : -1;
    if (byte < 0) {
      out.resize(before);
      out += token;
      return;
    }
    out += static_cast<char>(byte);
    at += c.bytes;
  }
}

}  // namespace strata::tokenizer
