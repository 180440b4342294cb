// What a file is that was expected to be something else: for messages.
//
//   file_kind(bytes, "model.npz")    // "a NumPy archive (.npz)"
//   file_kind(bytes, "a.bin")        // "12 bytes that are no text: 3c 00 00 00 38 00 60 00 ..."
#pragma once

#include <string>
#include <string_view>

namespace strata {

/// What the bytes are by how they begin; where that says nothing, by the ending of the name. Empty
/// for what is not known.
std::string known_kind(std::string_view bytes, std::string_view name);

/// The same, and of the unknown its first line or its first bytes.
std::string file_kind(std::string_view bytes, std::string_view name);

/// The command that unpacks a file of this beginning ("gunzip -k"); empty for what no usual one
/// compressed.
std::string_view unpacks(std::string_view bytes);

}  // namespace strata
