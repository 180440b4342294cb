// Pieces of bytes compressed each alone, whose unpacked size stands beside them.
//
//   auto bytes = unpack_block(BlockCompression::zstd, packed, 1000, "data.bagz");
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "strata/base/result.h"

namespace strata::data {

enum class BlockCompression : char { none = 0, brotli = 'b', zstd = 'z', snappy = 's' };

/// Appends `bytes` packed; levels as ArrayRecord has them (brotli 6, zstd 3).
void pack_block(BlockCompression how, std::string_view bytes, std::string& out);

/// Appends what `packed` unpacks to, which must be `size` bytes: else Code::corrupt, as for damaged
/// ones. Memory is taken as bytes arrive, not as `size` says.
Status unpack_block(BlockCompression how, std::string_view packed, std::uint64_t size,
                    const std::string& name, std::string& out);

/// The unpacked size that a zstd frame or a snappy block states itself; -1 where it does not.
std::int64_t stated_size(BlockCompression how, std::string_view packed);

}  // namespace strata::data
