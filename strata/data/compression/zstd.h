// Frames of Zstandard at a level that the caller names.
#pragma once

#include <string>
#include <string_view>

namespace strata::data {

/// The bytes as one frame with its checksum. Levels are zstd's: 1 is fast, 3 its default; others
/// than it knows become the nearest.
std::string zstd_frame(std::string_view bytes, int level);

}  // namespace strata::data
