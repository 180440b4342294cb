#include "strata/checkpoint/zarr/array.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "strata/base/checksum.h"
#include "strata/checkpoint/store/parallel.h"
#include "strata/data/compression/codec.h"
#include "strata/data/compression/stream.h"
#include "strata/data/compression/zstd.h"

namespace strata::checkpoint::zarr {
namespace {

using Sizes = std::vector<std::int64_t>;
constexpr std::uint64_t kAbsent = ~std::uint64_t{0};
constexpr std::uint64_t kSlack = 1 << 16;

std::uint64_t count(const Sizes& sizes) {
  std::uint64_t out = 1;
  for (std::int64_t n : sizes) out *= static_cast<std::uint64_t>(n);
  return out;
}

/// Calls f(index) for each index below `sizes`, in C order, until it fails.
template <class F>
Status each(const Sizes& begin, const Sizes& end, F&& f) {
  for (std::size_t i = 0; i < begin.size(); ++i)
    if (begin[i] >= end[i]) return {};
  Sizes at = begin;
  for (;;) {
    if (Status s = f(at); !s.ok()) return s;
    std::size_t axis = at.size();
    while (axis > 0 && ++at[axis - 1] == end[axis - 1]) {
      at[axis - 1] = begin[axis - 1];
      --axis;
    }
    if (axis == 0) return {};
  }
}

/// A dense tensor of bytes whose first element is at `origin` of the array.
struct Box {
  Sizes origin, sizes;
};

/// Copies what two boxes share, row by row.
void copy_shared(const Box& from, const char* source, const Box& to, char* target,
                 std::size_t width) {
  const std::size_t rank = from.sizes.size();
  Sizes begin(rank), end(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    begin[i] = std::max(from.origin[i], to.origin[i]);
    end[i] = std::min(from.origin[i] + from.sizes[i], to.origin[i] + to.sizes[i]);
    if (begin[i] >= end[i]) return;
  }
  if (rank == 0) {
    std::memcpy(target, source, width);
    return;
  }
  // Trailing axes that are whole in both boxes make one run.
  std::size_t axis = rank - 1;
  std::int64_t run = end[axis] - begin[axis];
  while (axis > 0 && from.sizes[axis] == end[axis] - begin[axis] &&
         to.sizes[axis] == end[axis] - begin[axis]) {
    --axis;
    run *= end[axis] - begin[axis];
  }
  Sizes outer_end = end;
  for (std::size_t i = axis; i < rank; ++i) outer_end[i] = begin[i] + 1;
  auto offset = [&](const Box& box, const Sizes& at) {
    std::int64_t out = 0;
    for (std::size_t i = 0; i < rank; ++i) out = out * box.sizes[i] + (at[i] - box.origin[i]);
    return static_cast<std::size_t>(out) * width;
  };
  (void)each(begin, outer_end, [&](const Sizes& at) {
    std::memcpy(target + offset(to, at), source + offset(from, at),
                static_cast<std::size_t>(run) * width);
    return Status();
  });
}

/// Where a part of a dense tensor begins whose elements are one after the other in it.
std::optional<std::uint64_t> contiguous(const Box& whole, const Box& part) {
  std::uint64_t at = 0;
  bool one = true;  // all axes so far have one element in the part
  for (std::size_t i = 0; i < whole.sizes.size(); ++i) {
    if (part.origin[i] + part.sizes[i] > whole.sizes[i]) return {};
    if (!one && part.sizes[i] != whole.sizes[i]) return {};
    one &= part.sizes[i] == 1;
    at = at * static_cast<std::uint64_t>(whole.sizes[i]) +
         static_cast<std::uint64_t>(part.origin[i]);
  }
  return at;
}

void swap_bytes(std::string& bytes, DType dtype) {
  const std::size_t width = is_complex(dtype) ? byte_width(dtype) / 2 : byte_width(dtype);
  if (width == 1) return;
  for (std::size_t i = 0; i + width <= bytes.size(); i += width)
    std::reverse(bytes.data() + i, bytes.data() + i + width);
}

bool is_narrow(DType dtype) { return is_integer(dtype) && bit_width(dtype) < 8; }

/// A narrow integer's byte holds its bits alone in Zarr, and its value here.
void from_stored(std::string& bytes, DType dtype) {
  if (is_bool(dtype))
    for (char& c : bytes) c = c != 0;
  if (!is_narrow(dtype)) return;
  const int unused = 8 - bit_width(dtype);
  for (char& c : bytes) {
    const auto shifted = static_cast<unsigned char>(static_cast<unsigned char>(c) << unused);
    c = is_signed(dtype) ? static_cast<char>(static_cast<signed char>(shifted) >> unused)
                         : static_cast<char>(shifted >> unused);
  }
}
void to_stored(std::string& bytes, DType dtype) {
  if (!is_narrow(dtype)) return;
  const char mask = static_cast<char>((1 << bit_width(dtype)) - 1);
  for (char& c : bytes) c &= mask;
}

std::string filled(const Literal& fill, std::uint64_t elements) {
  const std::string_view one(reinterpret_cast<const char*>(fill.data()), fill.bytes());
  std::string out(elements * one.size(), '\0');
  if (one.find_first_not_of('\0') == one.npos) return out;
  for (std::size_t i = 0; i < elements; ++i)
    std::memcpy(&out[i * one.size()], one.data(), one.size());
  return out;
}

/// The elements with their axes permuted: axis i of the result is axis order[i].
std::string permuted(std::string_view bytes, const Sizes& sizes, const Sizes& order,
                     std::size_t width) {
  Sizes strides(sizes.size()), out_sizes(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0; stride *= sizes[i]) strides[i] = stride;
  for (std::size_t i = 0; i < order.size(); ++i)
    out_sizes[i] = sizes[static_cast<std::size_t>(order[i])];
  std::string out(bytes.size(), '\0');
  std::size_t to = 0;
  (void)each(Sizes(sizes.size()), out_sizes, [&](const Sizes& at) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < at.size(); ++i)
      from += at[i] * strides[static_cast<std::size_t>(order[i])];
    std::memcpy(&out[to], &bytes[static_cast<std::size_t>(from) * width], width);
    to += width;
    return Status();
  });
  return out;
}

const data::Compression* compression_of(Codec::Kind kind) {
  switch (kind) {
    case Codec::Kind::gzip: return data::compression_named("gzip");
    case Codec::Kind::zlib: return data::compression_named("zlib");
    case Codec::Kind::bz2: return data::compression_named("bzip2");
    case Codec::Kind::zstd: return data::compression_named("zstd");
    default: return nullptr;
  }
}

Status take_checksum(std::string& bytes, const std::string& name) {
  std::uint32_t sum;
  if (bytes.size() < 4) return Status(Code::corrupt, "{}: too short for its checksum", name);
  std::memcpy(&sum, bytes.data() + bytes.size() - 4, 4);
  bytes.resize(bytes.size() - 4);
  if (crc32c(bytes) != sum) return Status(Code::corrupt, "{}: does not match its checksum", name);
  return {};
}

void add_checksum(std::string& bytes) {
  const std::uint32_t sum = crc32c(bytes);
  bytes.append(reinterpret_cast<const char*>(&sum), 4);
}

/// Undoes the codecs from bytes to bytes; `at` is then the place of the one that makes bytes.
Status unpack_bytes(const std::vector<Codec>& codecs, std::string& bytes, std::uint64_t most,
                    const std::string& name, std::size_t& at) {
  for (at = codecs.size() - 1;
       codecs[at].kind != Codec::Kind::bytes && codecs[at].kind != Codec::Kind::sharding; --at) {
    if (codecs[at].kind == Codec::Kind::crc32c) {
      if (Status s = take_checksum(bytes, name); !s.ok()) return s;
      continue;
    }
    auto unpacked = data::unpack(bytes, *compression_of(codecs[at].kind), name, most + kSlack);
    if (!unpacked) return unpacked.status();
    bytes = std::move(*unpacked);
  }
  return {};
}

struct Reading {
  const Metadata& metadata;
  const std::string& name;
  const Box& to;
  char* target;
  std::uint64_t limit;
};

/// Where a chunk's bytes are: a part of a value.
struct Stored {
  const KeyValueReader& store;
  const std::string& key;
  std::uint64_t offset, size;
  Result<std::string> read() const { return read(0, size); }
  Result<std::string> read(std::uint64_t from, std::uint64_t n) const {
    return store.read(key, {offset + from, n});
  }
  Status read_to(std::span<char> to) const { return store.read_to(key, offset, to); }
};

Status read_chunk(const Reading& r, const std::vector<Codec>& codecs, const Box& chunk,
                  const Stored& stored);

/// The index of a shard: offset and length of each inner chunk.
Result<std::vector<std::uint64_t>> read_index(const Codec& codec, std::uint64_t chunks,
                                              const Stored& stored, const std::string& name) {
  std::uint64_t length = chunks * 16;
  bool little = true;
  for (const Codec& c : codec.index) {
    if (c.kind == Codec::Kind::crc32c) length += 4;
    if (c.kind == Codec::Kind::bytes) little = c.little;
  }
  if (stored.size < length)
    return Status(Code::corrupt, "{}: {} bytes are too few for a shard's index", name, stored.size);
  auto index = stored.read(codec.index_at_end ? stored.size - length : 0, length);
  if (!index) return index.status();
  std::size_t at = 0;
  if (Status s = unpack_bytes(codec.index, *index, chunks * 16, name, at); !s.ok()) return s;
  if (index->size() != chunks * 16) return Status(Code::corrupt, "{}: a shard's index", name);
  std::vector<std::uint64_t> out(chunks * 2);
  std::memcpy(out.data(), index->data(), index->size());
  if (!little)
    for (std::uint64_t& n : out) n = __builtin_bswap64(n);
  return out;
}

Status read_shard(const Reading& r, const Codec& codec, const Box& shard, const Stored& stored) {
  Sizes grid, first, last;
  for (std::size_t i = 0; i < shard.sizes.size(); ++i) {
    if (shard.sizes[i] % codec.chunk[i])
      return Status(Code::corrupt, "{}: a shard is cut into no whole chunks", r.name);
    grid.push_back(shard.sizes[i] / codec.chunk[i]);
    const std::int64_t begin = std::max(shard.origin[i], r.to.origin[i]) - shard.origin[i];
    const std::int64_t end =
        std::min(shard.origin[i] + shard.sizes[i], r.to.origin[i] + r.to.sizes[i]) -
        shard.origin[i];
    first.push_back(begin / codec.chunk[i]);
    last.push_back((end + codec.chunk[i] - 1) / codec.chunk[i]);
  }
  if (count(grid) > stored.size / 16 + 1)
    return Status(Code::corrupt, "{}: {} bytes are too few for a shard of {} chunks", r.name,
                  stored.size, count(grid));
  auto index = read_index(codec, count(grid), stored, r.name);
  if (!index) return index.status();
  return each(first, last, [&](const Sizes& at) -> Status {
    std::size_t n = 0;
    Box chunk{shard.origin, codec.chunk};
    for (std::size_t i = 0; i < at.size(); ++i) {
      n = n * static_cast<std::size_t>(grid[i]) + static_cast<std::size_t>(at[i]);
      chunk.origin[i] += at[i] * codec.chunk[i];
    }
    const std::uint64_t offset = (*index)[2 * n], length = (*index)[2 * n + 1];
    if (offset == kAbsent && length == kAbsent) return {};
    if (offset > stored.size || length > stored.size - offset)
      return Status(Code::corrupt, "{}: a chunk lies outside of its shard", r.name);
    return read_chunk(r, codec.inner, chunk,
                      {stored.store, stored.key, stored.offset + offset, length});
  });
}

/// Whether a chunk's bytes are its elements as they are here.
bool as_here(const Codec& codec, DType dtype) {
  return codec.kind == Codec::Kind::bytes && (codec.little || byte_width(dtype) == 1) &&
         !is_narrow(dtype);
}

/// Reads a chunk of `size` bytes straight to its place in the box; false where it has no such place
/// or does not unpack: read by its codecs, one after the other, it says why.
Result<bool> read_straight(const Reading& r, const std::vector<Codec>& codecs, const Box& chunk,
                           const Stored& stored, std::uint64_t size) {
  const DType dtype = r.metadata.dtype;
  const bool packed = codecs.size() == 2 && codecs[1].kind == Codec::Kind::zstd;
  if (!(packed || codecs.size() == 1) || !as_here(codecs[0], dtype) || is_bool(dtype)) return false;
  Box part = chunk;
  for (std::size_t i = 0; i < part.origin.size(); ++i)
    if ((part.origin[i] -= r.to.origin[i]) < 0) return false;
  const auto at = contiguous(r.to, part);
  if (!at || (!packed && stored.size != size)) return false;
  const std::span<char> to(r.target + *at * byte_width(dtype), size);
  if (!packed) {
    const Status s = stored.read_to(to);
    if (!s.ok()) return s;
    return true;
  }
  const auto bytes = std::make_unique_for_overwrite<char[]>(stored.size);
  if (Status s = stored.read_to({bytes.get(), stored.size}); !s.ok()) return s;
  return data::zstd_unpack_to({bytes.get(), stored.size}, to);
}

Status read_chunk(const Reading& r, const std::vector<Codec>& codecs, const Box& chunk,
                  const Stored& stored) {
  const std::size_t width = byte_width(r.metadata.dtype);
  const bool permutes = codecs.front().kind == Codec::Kind::transpose;
  if (codecs.back().kind == Codec::Kind::sharding && !permutes)
    return read_shard(r, codecs.back(), chunk, stored);
  const std::uint64_t size = count(chunk.sizes) * width;
  if (size > r.limit)
    return Status(Code::invalid, "{}: chunks of {} bytes, and {} are allowed", r.name, size,
                  r.limit);
  const auto straight = read_straight(r, codecs, chunk, stored, size);
  if (!straight || *straight) return straight.status();
  auto all = stored.read();
  if (!all) return all.status();
  std::size_t at = 0;
  if (Status s = unpack_bytes(codecs, *all, size, r.name, at); !s.ok()) return s;
  if (codecs[at].kind == Codec::Kind::sharding)
    return Status(Code::unsupported, "{}: a shard that is transposed or compressed", r.name);
  if (all->size() != size)
    return Status(Code::corrupt, "{}: a chunk of {} bytes, where {} are said", r.name, all->size(),
                  size);
  if (!codecs[at].little) swap_bytes(*all, r.metadata.dtype);
  for (std::size_t i = at; i-- > 0;) {
    // Stored with axis k being axis order[k]: put them back.
    const Sizes& order = codecs[i].order;
    if (order.size() != chunk.sizes.size() || i > 0)
      return Status(Code::unsupported, "{}: several transpositions", r.name);
    Sizes stored_sizes(order.size()), back(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      stored_sizes[k] = chunk.sizes[static_cast<std::size_t>(order[k])];
      back[static_cast<std::size_t>(order[k])] = static_cast<std::int64_t>(k);
    }
    *all = permuted(*all, stored_sizes, back, width);
  }
  from_stored(*all, r.metadata.dtype);
  copy_shared(chunk, all->data(), r.to, r.target, width);
  return {};
}

/// A chunk's bytes from its elements.
Payload encode_chunk(const std::vector<Codec>& codecs, const Metadata& m, const Sizes& sizes,
                     Payload bytes);

/// A shard of a chunk's elements: its inner chunks, each encoded, and their index.
std::string encode_shard(const Codec& c, const Metadata& m, const Sizes& sizes,
                         std::string_view bytes) {
  std::string out, index;
  Sizes grid;
  for (std::size_t i = 0; i < sizes.size(); ++i) grid.push_back(sizes[i] / c.chunk[i]);
  const Box whole{Sizes(sizes.size()), sizes};
  const std::uint64_t head = c.index_at_end ? 0 : count(grid) * 16 + 4;
  (void)each(Sizes(grid.size()), grid, [&](const Sizes& at) {
    Box part{at, c.chunk};
    for (std::size_t i = 0; i < at.size(); ++i) part.origin[i] *= c.chunk[i];
    std::string elements(count(c.chunk) * byte_width(m.dtype), '\0');
    copy_shared(whole, bytes.data(), part, elements.data(), byte_width(m.dtype));
    const Payload piece = encode_chunk(c.inner, m, c.chunk, std::move(elements));
    const std::uint64_t place[2] = {head + out.size(), piece.size()};
    index.append(reinterpret_cast<const char*>(place), sizeof place);
    out += piece.view();
    return Status();
  });
  add_checksum(index);
  return c.index_at_end ? out + index : index + out;
}

Payload encode_chunk(const std::vector<Codec>& codecs, const Metadata& m, const Sizes& sizes,
                     Payload bytes) {
  for (const Codec& c : codecs) {
    switch (c.kind) {
      case Codec::Kind::transpose:
        bytes = permuted(bytes.view(), sizes, c.order, byte_width(m.dtype));
        break;
      case Codec::Kind::bytes: {
        if (as_here(c, m.dtype)) break;
        std::string changed = std::move(bytes).own();
        to_stored(changed, m.dtype);
        if (!c.little) swap_bytes(changed, m.dtype);
        bytes = std::move(changed);
        break;
      }
      case Codec::Kind::crc32c: {
        std::string longer = std::move(bytes).own();
        add_checksum(longer);
        bytes = std::move(longer);
        break;
      }
      case Codec::Kind::zstd: bytes = data::zstd_frame(bytes.view(), c.level); break;
      case Codec::Kind::sharding: bytes = encode_shard(c, m, sizes, bytes.view()); break;
      default: bytes = data::pack(bytes.view(), *compression_of(c.kind)).value(); break;
    }
  }
  return bytes;
}

}  // namespace

Result<Array> Array::open(const KeyValueReader& store, const std::string& key) {
  const std::string v2 = below(key, ".zarray"), v3 = below(key, "zarr.json");
  auto bytes = store.read(v2);
  const bool is_v2 = bytes.ok();
  if (!bytes && bytes.status().code() != Code::not_found) return bytes.status();
  if (!is_v2) bytes = store.read(v3);
  if (!bytes) return bytes.status();
  auto metadata =
      is_v2 ? decode_v2(*bytes, store.name_of(v2)) : decode_v3(*bytes, store.name_of(v3));
  if (!metadata) return metadata.status();
  return Array(store, key, std::move(*metadata));
}

Result<Literal> Array::read(std::uint64_t limit) const {
  return read(Sizes(metadata_.shape.size()), metadata_.shape, limit);
}

std::int64_t Grid::count() const {
  std::int64_t out = 1;
  for (std::int64_t n : sizes) out *= n;
  return out;
}

Sizes Grid::place(std::int64_t n) const {
  Sizes out(sizes.size());
  for (std::size_t i = sizes.size(); i-- > 0; n /= sizes[i]) out[i] = first[i] + n % sizes[i];
  return out;
}

Grid Array::chunks(const Sizes& begin, const Sizes& sizes) const {
  const Metadata& m = metadata_;
  if (begin.size() != m.shape.size() || sizes.size() != m.shape.size())
    throw Error("zarr", "a box of rank {} of an array of rank {}", sizes.size(), m.shape.size());
  Grid out;
  const bool empty = count(sizes) == 0;
  for (std::size_t i = 0; i < begin.size(); ++i) {
    if (begin[i] < 0 || sizes[i] < 0 || begin[i] > m.shape[i] - sizes[i])
      throw Error("zarr", "elements {} to {} of axis {}, which has {}", begin[i],
                  begin[i] + sizes[i], i, m.shape[i]);
    out.first.push_back(begin[i] / m.chunk[i]);
    const std::int64_t end = (begin[i] + sizes[i] + m.chunk[i] - 1) / m.chunk[i];
    out.sizes.push_back(empty ? 0 : end - out.first.back());
  }
  return out;
}

Result<Literal> Array::blank(const Sizes& sizes, std::uint64_t limit) const {
  const Metadata& m = metadata_;
  const std::uint64_t bytes = count(sizes) * byte_width(m.dtype);
  if (bytes > limit)
    return Status(Code::invalid, "{}: {} bytes, and {} are allowed", store_->name_of(key_), bytes,
                  limit);
  Literal out(Type(m.dtype, Shape::of(sizes)));
  if (bytes > 0 && !m.fill.same_bits(Literal(Type::scalar(m.dtype)))) {
    const std::string all = filled(m.fill, count(sizes));
    std::memcpy(out.mutable_data(), all.data(), all.size());
  }
  return out;
}

Result<bool> Array::read_chunk(const Sizes& at, const Sizes& begin, const Sizes& sizes,
                               char* target, std::uint64_t limit) const {
  const Metadata& m = metadata_;
  const std::string key = chunk_key(at), name = store_->name_of(key);
  auto stored = store_->size(key);
  if (!stored && stored.status().code() == Code::not_found) return false;
  if (!stored) return stored.status();
  const Box to{begin, sizes};
  Box chunk{at, m.chunk};
  for (std::size_t i = 0; i < at.size(); ++i) chunk.origin[i] *= m.chunk[i];
  const Status read = checkpoint::zarr::read_chunk({m, name, to, target, limit}, m.codecs, chunk,
                                                   {*store_, key, 0, *stored});
  if (!read.ok()) return read;
  return true;
}

Result<Literal> Array::read(const Sizes& begin, const Sizes& sizes, std::uint64_t limit) const {
  const Grid all = chunks(begin, sizes);
  auto out = blank(sizes, limit);
  if (!out || all.count() == 0) return out;
  char* target = reinterpret_cast<char*>(out->mutable_data());
  const Status s = for_each(all.count(), [&](std::int64_t i) {
    return read_chunk(all.place(i), begin, sizes, target, limit).status();
  });
  if (!s.ok()) return s;
  return out;
}

Result<std::vector<std::string>> Array::missing() const {
  std::vector<std::string> out;
  Status s = each(Sizes(metadata_.shape.size()), metadata_.grid(), [&](const Sizes& at) -> Status {
    const std::string key = chunk_key(at);
    auto size = store_->size(key);
    if (size) return {};
    if (size.status().code() != Code::not_found) return size.status();
    out.push_back(key);
    return {};
  });
  if (!s.ok()) return s;
  return out;
}

Encoder::Encoder(std::string key, Metadata metadata, const Literal& value)
    : key_(std::move(key)), metadata_(std::move(metadata)), value_(value) {
  grid_ = {Sizes(metadata_.shape.size()), metadata_.grid()};
  STRATA_CHECK(metadata_.dtype == value.dtype() && metadata_.shape == value.shape().sizes(),
               "metadata of {} describe a value of {}", key_, value.type().to_string());
}

std::string Encoder::metadata_key() const {
  return below(key_, metadata_.format == 2 ? ".zarray" : "zarr.json");
}

std::string Encoder::metadata_text() const {
  return metadata_.format == 2 ? encode_v2(metadata_) : encode_v3(metadata_);
}

std::uint64_t Encoder::chunk_bytes() const {
  return count(metadata_.chunk) * byte_width(metadata_.dtype);
}

std::string Encoder::chunk_key(std::int64_t chunk) const {
  return below(key_, metadata_.key(grid_.place(chunk)));
}

Payload Encoder::chunk(std::int64_t chunk) const {
  const Metadata& m = metadata_;
  const Box whole{Sizes(m.shape.size()), m.shape};
  Box box{grid_.place(chunk), m.chunk};
  for (std::size_t i = 0; i < box.origin.size(); ++i) box.origin[i] *= m.chunk[i];
  const char* source = reinterpret_cast<const char*>(value_.data());
  const std::size_t width = byte_width(m.dtype);
  if (const auto at = contiguous(whole, box))  // in place
    return encode_chunk(m.codecs, m, m.chunk,
                        Payload::of({source + *at * width, count(m.chunk) * width}));
  std::string bytes = filled(m.fill, count(m.chunk));
  copy_shared(whole, source, box, bytes.data(), width);
  return encode_chunk(m.codecs, m, m.chunk, std::move(bytes));
}

Status write(const Put& put, const std::string& key, const Metadata& m, const Literal& value) {
  const Encoder encoder(key, m, value);
  if (Status s = put(encoder.metadata_key(), encoder.metadata_text()); !s.ok()) return s;
  for (std::int64_t i = 0; i < encoder.chunks(); ++i)
    if (Status s = put(encoder.chunk_key(i), encoder.chunk(i).view()); !s.ok()) return s;
  return {};
}

Status write(KeyValueStore& store, const std::string& key, const Metadata& metadata,
             const Literal& value) {
  return write([&](const std::string& k, std::string_view v) { return store.write(k, v); }, key,
               metadata, value);
}

}  // namespace strata::checkpoint::zarr
