// Zarr arrays in a store of keys and values.
//
//   auto array = zarr::Array::open(*database, "params.w");
//   auto rows = array->read({4, 0}, {4, 8});            // only the chunks that have these rows
//   zarr::write(store, "params.w", zarr::metadata_of(2, type, {4, 4}), literal);
//
// Both formats (metadata.h). Every chunk's size is checked against what the metadata says.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/checkpoint/store/key_value.h"
#include "strata/checkpoint/store/payload.h"
#include "strata/checkpoint/zarr/metadata.h"

namespace strata::checkpoint::zarr {

/// The key of what an array has below its own key; at the empty key it stands in the store itself.
inline std::string below(const std::string& key, const std::string& name) {
  return key.empty() ? name : key + "/" + name;
}

/// Chunks that make a box: the place of the first, and how many there are along each axis.
struct Grid {
  std::vector<std::int64_t> first, sizes;
  /// How many.
  std::int64_t count() const;
  /// The place of a chunk, in C order.
  std::vector<std::int64_t> place(std::int64_t n) const;
};

/// An array that is open for reading.
class Array {
 public:
  /// The array at a key: KEY/.zarray or KEY/zarr.json. `store` outlives this. Code::not_found where
  /// there is neither; codes of decode_v2.
  static Result<Array> open(const KeyValueReader& store, const std::string& key);
  /// Dtype and shape.
  Type type() const { return Type(metadata_.dtype, Shape::of(metadata_.shape)); }
  const Metadata& metadata() const { return metadata_; }
  /// All of it. Code::corrupt for chunks that are not as they should be; chunks that are absent
  /// have the fill value. More than `limit` bytes are Code::invalid.
  Result<Literal> read(std::uint64_t limit = kMostBytes) const;
  /// The box of `sizes` elements from `begin`, of which only the chunks that it meets are read, and
  /// of shards only their inner chunks. Throws Error for a box that is not within the array.
  Result<Literal> read(const std::vector<std::int64_t>& begin,
                       const std::vector<std::int64_t>& sizes,
                       std::uint64_t limit = kMostBytes) const;
  /// The chunks that a box meets. Throws Error for a box that is not within the array.
  Grid chunks(const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& sizes) const;
  /// Reads what one chunk and a box share into the box's elements at `target`, which are dense;
  /// false, and nothing written, where the chunk is absent. Several threads may read chunks of one
  /// box at once.
  Result<bool> read_chunk(const std::vector<std::int64_t>& chunk,
                          const std::vector<std::int64_t>& begin,
                          const std::vector<std::int64_t>& sizes, char* target,
                          std::uint64_t limit = kMostBytes) const;
  /// What a box holds where no chunk is: zeros, or the fill value.
  Result<Literal> blank(const std::vector<std::int64_t>& sizes,
                        std::uint64_t limit = kMostBytes) const;
  /// The key of a chunk.
  std::string chunk_key(const std::vector<std::int64_t>& chunk) const {
    return below(key_, metadata_.key(chunk));
  }
  /// The keys of chunks that are not there; none of a whole array.
  Result<std::vector<std::string>> missing() const;

  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 42;

 private:
  Array(const KeyValueReader& store, std::string key, Metadata metadata)
      : store_(&store), key_(std::move(key)), metadata_(std::move(metadata)) {}
  const KeyValueReader* store_;
  std::string key_;
  Metadata metadata_;
};

/// The chunks of an array that is to be written, each by itself, on any thread.
class Encoder {
 public:
  /// `value` outlives this.
  Encoder(std::string key, Metadata metadata, const Literal& value);
  /// Where the metadata go, and what they are.
  std::string metadata_key() const;
  std::string metadata_text() const;
  std::int64_t chunks() const { return grid_.count(); }
  /// Of a chunk's elements.
  std::uint64_t chunk_bytes() const;
  /// Where a chunk goes, and its bytes: those of the value itself where they are stored as they
  /// are.
  std::string chunk_key(std::int64_t chunk) const;
  Payload chunk(std::int64_t chunk) const;

 private:
  std::string key_;
  Metadata metadata_;
  const Literal& value_;
  Grid grid_;
};

/// Takes a value under a key.
using Put = std::function<Status(const std::string& key, std::string_view value)>;

/// Gives the metadata and all chunks of an array to `put`, metadata first.
Status write(const Put& put, const std::string& key, const Metadata& metadata,
             const Literal& value);
Status write(KeyValueStore& store, const std::string& key, const Metadata& metadata,
             const Literal& value);

}  // namespace strata::checkpoint::zarr
