// Characters of UTF-8 (Unicode standard, table 3-7).
#pragma once

#include <cstddef>
#include <string_view>

namespace strata::tokenizer {

/// Bytes of the well-formed character at the start of `text`; 0 when there is none.
std::size_t character(std::string_view text);
/// Whether `text`, of at most three bytes and no whole character, is the beginning of one.
bool may_become_character(std::string_view text);
/// Where the first byte outside well-formed UTF-8 is; npos when all is well-formed.
std::size_t first_invalid(std::string_view text);

}  // namespace strata::tokenizer
