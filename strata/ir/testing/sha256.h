// SHA-256, for comparing long texts with hashes that other programs made.
//
//   sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
//
// Source: FIPS 180-4, sections 4.1.2, 4.2.2, 5.1.1, 5.3.3, 6.2.
#pragma once

#include <string>
#include <string_view>

namespace strata::ir::testing {

std::string sha256_hex(std::string_view bytes);

}  // namespace strata::ir::testing
