// MDS: folders of shards with a table of columns, as mosaicml-streaming writes them.
//
//   auto folder = MdsFolder::open("data/train");       // index.json and its shards
//   folder->read(17);                                  // an Element: a dict of columns
//
//   shard: u32 n, u32 places[n + 1], configuration as JSON, samples
//   sample: u32 size of each column that varies, then the columns' bytes
//
// Source: mosaicml/streaming, streaming/base/format/mds/{reader,writer,encodings}.py. Encodings:
// bytes, str, int, json, str_int, str_float, str_decimal, the scalars uint8 .. float64, ndarray in
// its four forms, jpeg and png (as their bytes). pil, jpeg_array and list[...] give their bytes
// too. pkl is a Python pickle and refused with Code::unsupported: reading it would run programs.
// Hashes that the index notes are verified (crc32, adler32, md5, sha1, sha2, sha3, blake2, xxh32,
// xxh64, xxh3, xxh128); sizes always.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "strata/base/large_file.h"
#include "strata/base/result.h"
#include "strata/data/element.h"

namespace strata::data {

/// A column's encoding as the index names it.
struct MdsColumn {
  std::string name, encoding;
  /// Bytes of each value; -1 where it varies.
  std::int64_t size = -1;
};

/// The bytes of a value of a column and back. Code::corrupt, Code::invalid, Code::unsupported.
Result<Element> decode_mds(const std::string& encoding, std::string_view bytes,
                           const std::string& where);
Result<std::string> encode_mds(const std::string& encoding, const Element& value);

/// Any threads may read at once.
class MdsFolder {
 public:
  /// The folder, or its index.json. Shards are read when a sample of theirs is.
  static Result<std::shared_ptr<const MdsFolder>> open(const std::string& path);
  std::int64_t size() const { return size_; }
  Result<Element> read(std::int64_t index) const;
  /// The columns of the first shard.
  const std::vector<MdsColumn>& columns() const { return columns_; }

 private:
  struct Shard {
    std::string path;
    std::vector<MdsColumn> columns;
    std::int64_t first = 0, samples = 0, raw_bytes = 0, zip_bytes = 0;
    std::string compression;  // "zstd", ... or empty
    std::map<std::string, std::string> hashes;
  };
  struct Opened {
    std::size_t number = 0;
    std::shared_ptr<const MappedFile> file;
    std::string unpacked;
    std::string_view bytes;
  };
  Result<std::shared_ptr<const Opened>> shard(std::size_t number) const;
  std::vector<Shard> shards_;
  std::vector<MdsColumn> columns_;
  std::int64_t size_ = 0;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Opened> last_;
};

}  // namespace strata::data
