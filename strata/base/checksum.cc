#include "strata/base/checksum.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace strata {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) ? 0x82f63b78u : 0u);
    table[i] = c;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kTable = make_table();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::string_view bytes,
                                                               std::uint32_t before) {
  std::uint64_t c = ~before;
  const char* p = bytes.data();
  std::size_t n = bytes.size();
  for (; n >= 8; p += 8, n -= 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    c = _mm_crc32_u64(c, word);
  }
  for (; n > 0; ++p, --n)
    c = _mm_crc32_u8(static_cast<std::uint32_t>(c), static_cast<unsigned char>(*p));
  return ~static_cast<std::uint32_t>(c);
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::string_view bytes, std::uint32_t before) {
  std::uint32_t c = ~before;
  for (char b : bytes) c = (c >> 8) ^ kTable[(c ^ static_cast<unsigned char>(b)) & 0xff];
  return ~c;
}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return by_instruction(bytes, before);
#endif
  return crc32c_by_table(bytes, before);
}

std::string hex32(std::uint32_t value) { return fmt::format("{:08x}", value); }

}  // namespace strata
