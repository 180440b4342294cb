// Bytes as RFC 4648's base64.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace strata::tokenizer {

/// The bytes that `text` stands for; nothing where it is no base64, with or without padding.
std::optional<std::string> from_base64(std::string_view text);
/// The padded text of bytes.
std::string to_base64(std::string_view bytes);

}  // namespace strata::tokenizer
