// Riegeli's chunks: what an ArrayRecord file is made of. A header of 24 bytes stands at every
// multiple of 65536 bytes, in the middle of whatever is there; each chunk has two checksums.
//
// Source: google/riegeli, doc/riegeli_records_file_format.md. Transposed chunks ('t') are refused
// with Code::unsupported: upstream specifies them by code alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"
#include "strata/data/compression/block.h"

namespace strata::data::riegeli {

inline constexpr std::uint64_t kBlock = 65536, kBlockHeader = 24, kChunkHeader = 40;

struct Chunk {
  char type = 0;
  std::uint64_t records = 0, decoded_size = 0;
  std::string_view data;  // without block headers
  std::uint64_t end = 0;  // where the next chunk begins
};

/// The chunk that begins at byte `at`, its checksums verified. Its data are in `bytes`, or in
/// `buffer` where a block header interrupts them.
Result<Chunk> read_chunk(std::string_view bytes, std::uint64_t at, const std::string& name,
                         std::string& buffer);

/// Puts the records of a simple chunk ('r') into `out`, over what it had: they are in the chunk's
/// data or in `buffer`.
Status records_of(const Chunk& chunk, const std::string& name, std::string& buffer,
                  std::vector<std::string_view>& out);

/// The data of a simple chunk.
std::string simple_data(const std::vector<std::string_view>& records, BlockCompression how);

/// Writes chunks one after the other. `bytes` grows; who writes it out may clear it.
class ChunkWriter {
 public:
  void add(char type, std::uint64_t records, std::uint64_t decoded_size, std::string_view data);
  /// A chunk of zeros to the next multiple of 65536; nothing there.
  void pad();
  std::uint64_t position() const { return position_; }
  std::string bytes;

 private:
  std::uint64_t position_ = 0;
};

}  // namespace strata::data::riegeli
