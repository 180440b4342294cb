// Zstandard where a stream is more than is needed: frames at a level that the caller names, and
// many small ones unpacked by one decoder.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "strata/data/compression/codec.h"

namespace strata::data {

/// The bytes as one frame with its checksum. Levels are zstd's: 1 is fast, 3 its default; others
/// than it knows become the nearest.
std::string zstd_frame(std::string_view bytes, int level);
/// Unpacks frames to where their bytes are wanted. False, and anything there, where they are
/// damaged or have not just as many bytes.
bool zstd_unpack_to(std::string_view frames, std::span<char> to);
/// A decoder that the calling thread keeps, at the beginning of a stream: valid until the thread's
/// next call. Making a decoder costs more than unpacking a small frame. What it keeps stays below
/// some megabytes: windows of large frames are given back.
Codec& zstd_decoder_of_thread();

/// The bytes of a frame that is one stored block and states its size, in place; nothing for
/// other frames. Records of a few bytes are stored like that: nothing need be unpacked.
std::optional<std::string_view> zstd_stored(std::string_view frame);

}  // namespace strata::data
