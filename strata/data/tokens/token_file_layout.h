// The head of a token file (token_file.h says the whole layout). Private to this room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace strata::data {

struct TokenFileHeader {
  static constexpr std::string_view kMagic = "STRATOK1";
  static constexpr std::size_t kBytes = 64;
  char magic[8];
  std::uint32_t width, vocab_size;
  std::uint64_t tokens, documents;
  std::uint32_t separator, fingerprint, body_crc;
  char zeros[16];
  std::uint32_t crc;

  std::string_view bytes(std::size_t n = kBytes) const {
    return {reinterpret_cast<const char*>(this), n};
  }
};
static_assert(sizeof(TokenFileHeader) == TokenFileHeader::kBytes);

/// The fingerprint's bytes with the zeros behind it.
inline std::size_t padded_fingerprint(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace strata::data
