// What a Zarr array's metadata says, of format 2 (`.zarray`) and format 3 (`zarr.json`).
//
//   auto metadata = zarr::decode_v2(bytes, "w/.zarray");
//   metadata->chunk                 // {4, 4}
//   metadata->key({1, 0})           // "1.0"
//
// Source: the specifications at zarr-specs.readthedocs.io, and google/tensorstore, driver/zarr and
// driver/zarr3, for names of types and codecs. A chunk's compressor of format 2 and its byte order
// stand as codecs, as in format 3.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"
#include "strata/type/literal.h"

namespace strata::checkpoint::zarr {

/// A step from a chunk's elements to its bytes.
struct Codec {
  enum class Kind { transpose, bytes, gzip, zlib, bz2, zstd, crc32c, sharding };
  Kind kind = Kind::bytes;
  bool little = true;               // bytes
  int level = 1;                    // compressions: what the writer used
  std::vector<std::int64_t> order;  // transpose: axis i of what is stored is axis order[i]
  // sharding: chunks within the chunk, each found by an index.
  std::vector<std::int64_t> chunk;
  std::vector<Codec> inner, index;
  bool index_at_end = true;
  bool operator==(const Codec&) const = default;
};

struct Metadata {
  int format = 2;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape, chunk;
  std::vector<Codec> codecs;  // in the order of writing
  Literal fill;               // of rank 0; what is not stored has this value
  char separator = '.';
  bool default_keys = false;  // format 3: keys begin with "c"

  /// The key of a chunk below the array's own.
  std::string key(const std::vector<std::int64_t>& index) const;
  /// So many chunks along each axis.
  std::vector<std::int64_t> grid() const;
};

/// Code::corrupt for what is no such metadata, Code::unsupported for codecs, types and grids that
/// are not known here (blosc among them).
Result<Metadata> decode_v2(std::string_view json, const std::string& name);
Result<Metadata> decode_v3(std::string_view json, const std::string& name);
/// As TensorStore writes them. Throws Error for a dtype that Zarr has no name for.
std::string encode_v2(const Metadata& metadata);
std::string encode_v3(const Metadata& metadata);

/// Metadata as Orbax writes it: format 2 with zstd, or format 3 of one shard a chunk, zstd within.
/// Without `compressed`: elements as they are; in format 3 behind a CRC-32C.
Metadata metadata_of(int format, const Type& type, std::vector<std::int64_t> chunk,
                     bool compressed = true);

}  // namespace strata::checkpoint::zarr
