// The characters that stand for bytes in byte-level vocabularies.
//
// 0x21-0x7e, 0xa1-0xac and 0xae-0xff stand for themselves, the other bytes, ascending, for U+0100,
// U+0101, ... (GPT-2's encoder.py).
#pragma once

#include <string>
#include <string_view>

namespace strata::tokenizer {

/// Appends the characters of each byte.
void append_mapped(std::string& out, std::string_view bytes);
/// Appends the bytes that a token's characters stand for; where one stands for none, the token's
/// own UTF-8.
void append_unmapped(std::string& out, std::string_view token);

}  // namespace strata::tokenizer
