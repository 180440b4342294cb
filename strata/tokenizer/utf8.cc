#include "strata/tokenizer/utf8.h"

#include <cstdint>
#include <cstring>

namespace strata::tokenizer {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

/// Bytes of a character that begins with `a`; 0 for a byte that begins none.
std::size_t length_of(unsigned a) {
  return a < 0x80 ? 1 : a < 0xc2 ? 0 : a < 0xe0 ? 2 : a < 0xf0 ? 3 : a < 0xf5 ? 4 : 0;
}

/// Whether `b` may follow the first byte `a`.
bool may_follow(unsigned a, unsigned b) {
  const unsigned least = a == 0xe0 ? 0xa0 : a == 0xf0 ? 0x90 : 0x80;
  const unsigned most = a == 0xed ? 0x9f : a == 0xf4 ? 0x8f : 0xbf;
  return b >= least && b <= most;
}

/// Whether the first `n` bytes may begin a character.
bool begins(std::string_view text, std::size_t n) {
  if (n > 1 && !may_follow(byte_at(text, 0), byte_at(text, 1))) return false;
  for (std::size_t i = 2; i < n; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80) return false;
  }
  return true;
}

}  // namespace

std::size_t character(std::string_view text) {
  const std::size_t n = text.empty() ? 0 : length_of(byte_at(text, 0));
  return n != 0 && text.size() >= n && begins(text, n) ? n : 0;
}

bool may_become_character(std::string_view text) {
  return !text.empty() && text.size() < length_of(byte_at(text, 0)) && begins(text, text.size());
}

std::size_t first_invalid(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint64_t eight;
    if (at + 8 <= text.size()) {
      std::memcpy(&eight, text.data() + at, 8);
      if ((eight & 0x8080808080808080u) == 0) {
        at += 8;
        continue;
      }
    }
    const std::size_t n = character(text.substr(at));
    if (n == 0) return at;
    at += n;
  }
  return std::string_view::npos;
}

}  // namespace strata::tokenizer
