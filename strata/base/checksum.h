// CRC-32C (Castagnoli): the checksum of checkpoints.
//
//   crc32c("123456789") == 0xe3069283
//
// Source: RFC 3720, appendix B.4 (polynomial, reflection, examples).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace strata {

/// The checksum of `bytes`; with `before`, of what that covers followed by `bytes`. Uses the
/// processor's instruction where there is one.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);
/// The same, from a table: what the fast one must equal.
std::uint32_t crc32c_by_table(std::string_view bytes, std::uint32_t before = 0);

/// Eight hexadecimal digits.
std::string hex32(std::uint32_t value);

}  // namespace strata
