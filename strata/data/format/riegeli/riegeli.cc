#include "strata/data/format/riegeli/riegeli.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "strata/data/compression/zstd.h"
#include "strata/data/format/riegeli/highway_hash.h"

namespace strata::data::riegeli {
namespace {

constexpr std::uint64_t kUsable = kBlock - kBlockHeader;

std::uint64_t left_in_block(std::uint64_t at) { return (kBlock - at % kBlock) % kBlock; }

/// Where `size` bytes that begin at `at` end, block headers among them.
std::uint64_t over(std::uint64_t at, std::uint64_t size) {
  return at + size + (size + (at + kUsable - 1) % kBlock) / kUsable * kBlockHeader;
}

/// The first place from `at` on where a chunk may begin.
std::uint64_t rounded(std::uint64_t at) {
  const std::uint64_t left = left_in_block(at);
  return at + (left >= kUsable ? left - (kUsable - 1) : 0);
}

template <class T>
T load(const char* at) {
  T out;
  std::memcpy(&out, at, sizeof out);
  return out;
}

void put(char* at, std::uint64_t value) { std::memcpy(at, &value, sizeof value); }

/// Bytes of the chunk that begins at `at`, [from, from + size) of them without block headers.
/// The caller knows that they are there.
void gather(std::string_view bytes, std::uint64_t at, std::uint64_t size, char* out) {
  while (size > 0) {
    if (at % kBlock == 0) at += kBlockHeader;
    const std::uint64_t n = std::min(size, kBlock - at % kBlock);
    std::memcpy(out, bytes.data() + at, n);
    out += n, at += n, size -= n;
  }
}

Status corrupt(const std::string& name, std::uint64_t at, const std::string& what) {
  return Status(Code::corrupt, "{}: the chunk at byte {}: {}", name, at, what);
}

/// A sound chunk that no block header interrupts, as most are; nothing for others, of which
/// `read_chunk` says what they are.
std::optional<Chunk> chunk_within_block(std::string_view bytes, std::uint64_t at) {
  const std::uint64_t in = at % kBlock;
  if (in < kBlockHeader || at >= bytes.size()) return std::nullopt;
  const std::uint64_t room = std::min<std::uint64_t>(kBlock - in, bytes.size() - at);
  if (room <= kChunkHeader) return std::nullopt;
  const char* header = bytes.data() + at;
  const auto size = load<std::uint64_t>(header + 8), word = load<std::uint64_t>(header + 24);
  Chunk out{.type = static_cast<char>(word & 0xff),
            .records = word >> 8,
            .decoded_size = load<std::uint64_t>(header + 32)};
  if (size >= room - kChunkHeader || out.records > size || out.type != 'r') return std::nullopt;
  out.data = {header + kChunkHeader, size};
  out.end = at + kChunkHeader + size;
  const auto [of_header, of_data] = riegeli_hashes({header + 8, 32}, out.data);
  if (of_header != load<std::uint64_t>(header) || of_data != load<std::uint64_t>(header + 16))
    return std::nullopt;
  return out;
}

/// Every block header inside of the chunk says where it begins and ends.
Status check_blocks(std::string_view bytes, std::uint64_t at, std::uint64_t end,
                    const std::string& name) {
  for (std::uint64_t block = at + left_in_block(at); block < end; block += kBlock) {
    const char* header = bytes.data() + block;
    if (riegeli_hash({header + 8, 16}) != load<std::uint64_t>(header) ||
        load<std::uint64_t>(header + 8) != block - at ||
        load<std::uint64_t>(header + 16) != end - block)
      return corrupt(name, at, fmt::format("the block header at byte {} is damaged", block));
  }
  return {};
}

std::uint64_t chunk_end(std::uint64_t at, std::uint64_t data, std::uint64_t records) {
  return std::max(over(at, kChunkHeader + data), rounded(at + records));
}

bool varint(std::string_view& rest, std::uint64_t& out) {
  out = 0;
  for (int shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    if (shift == 63 && byte > 1) return false;
    out |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

/// The record of a simple chunk of one that is not compressed; nothing for others.
std::optional<std::string_view> single_record(const Chunk& chunk) {
  std::string_view rest = chunk.data;
  std::uint64_t sizes = 0, size = 0;
  if (chunk.type != 'r' || chunk.records != 1 || rest.empty() || rest.front() != 0)
    return std::nullopt;
  rest.remove_prefix(1);
  if (!varint(rest, sizes) || sizes > rest.size()) return std::nullopt;
  const std::size_t left = rest.size() - sizes;
  if (!varint(rest, size) || rest.size() != left || size != left || size != chunk.decoded_size)
    return std::nullopt;
  return rest;
}

/// One of the two buffers of a simple chunk.
Result<std::string_view> unpacked(BlockCompression how, std::string_view packed,
                                  std::uint64_t limit, const std::string& name, std::string& out) {
  if (how == BlockCompression::none) return packed;
  std::uint64_t size = 0;
  if (!varint(packed, size) || size > limit)
    return Status(Code::corrupt, "{}: a chunk's buffer of {} bytes, where {} can be at most", name,
                  size, limit);
  if (how == BlockCompression::zstd)
    if (const auto stored = zstd_stored(packed); stored && stored->size() == size) return *stored;
  const std::size_t begin = out.size();
  if (Status s = unpack_block(how, packed, size, name, out); !s.ok()) return s;
  return std::string_view(out).substr(begin);
}

}  // namespace

Result<Chunk> read_chunk(std::string_view bytes, std::uint64_t at, const std::string& name,
                         std::string& buffer) {
  if (auto chunk = chunk_within_block(bytes, at)) return *chunk;
  const std::uint64_t size = bytes.size();
  if (at >= size || over(at, kChunkHeader) > size)
    return corrupt(name, at, fmt::format("the file ends before it, at byte {}", size));
  char header[kChunkHeader];
  gather(bytes, at, kChunkHeader, header);
  if (riegeli_hash({header + 8, 32}) != load<std::uint64_t>(header))
    return corrupt(name, at, "its header has a wrong checksum");
  const auto data = load<std::uint64_t>(header + 8), word = load<std::uint64_t>(header + 24);
  Chunk out{.type = static_cast<char>(word & 0xff),
            .records = word >> 8,
            .decoded_size = load<std::uint64_t>(header + 32)};
  if (data > size || out.records > size) return corrupt(name, at, "the file ends in it");
  out.end = chunk_end(at, data, out.records);
  if (out.end > size)
    return corrupt(name, at, fmt::format("the file ends in it, at byte {}", size));
  if (Status s = check_blocks(bytes, at, out.end, name); !s.ok()) return s;
  const std::uint64_t begin = over(at, kChunkHeader);
  if (left_in_block(begin) >= data && begin % kBlock != 0) {
    out.data = bytes.substr(begin, data);
  } else {
    buffer.resize(data);
    gather(bytes, begin, data, buffer.data());
    out.data = buffer;
  }
  if (riegeli_hash(out.data) != load<std::uint64_t>(header + 16))
    return corrupt(name, at, "its data have a wrong checksum");
  // Bytes behind the data, up to where the next chunk may begin, mean nothing but are zeros.
  std::uint64_t rest = over(at, kChunkHeader + data);
  for (; rest < out.end; ++rest) {
    if (rest % kBlock == 0) rest += kBlockHeader;
    if (rest < out.end && bytes[rest] != 0) return corrupt(name, at, "no zeros behind its data");
  }
  if (out.type == 'p' && out.data.find_first_not_of('\0') != std::string_view::npos)
    return corrupt(name, at, "padding that is not zeros");
  return out;
}

Status records_of(const Chunk& chunk, const std::string& name, std::string& buffer,
                  std::vector<std::string_view>& out) {
  out.clear();
  if (const auto record = single_record(chunk)) {
    out.push_back(*record);
    return {};
  }
  auto bad = [&](std::string_view what) { return Status(Code::corrupt, "{}: {}", name, what); };
  if (chunk.type == 't')
    return Status(Code::unsupported,
                  "{}: a transposed chunk of Riegeli: write the file with transpose:false", name);
  if (chunk.type != 'r') return bad(fmt::format("no chunk of records ({:#x})", chunk.type));
  std::string_view rest = chunk.data;
  if (rest.empty()) return bad("an empty chunk");
  const auto how = static_cast<BlockCompression>(rest.front());
  if (rest.front() != 0 && std::string_view("bzs").find(rest.front()) == std::string_view::npos)
    return bad(fmt::format("a chunk of compression {:#x}", rest.front()));
  rest.remove_prefix(1);
  std::uint64_t sizes_packed = 0;
  if (!varint(rest, sizes_packed) || sizes_packed > rest.size())
    return bad("sizes of records that reach beyond their chunk");
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
  if (chunk.records > kMost || chunk.decoded_size > kMost)
    return bad(
        fmt::format("a chunk of {} records and {} bytes", chunk.records, chunk.decoded_size));
  std::string sizes_buffer;
  auto sizes = unpacked(how, rest.substr(0, sizes_packed), 10 * chunk.records, name, sizes_buffer);
  if (!sizes) return sizes.status();
  if (sizes->size() < chunk.records) return bad("fewer sizes than records");
  buffer.clear();
  auto values = unpacked(how, rest.substr(sizes_packed), chunk.decoded_size, name, buffer);
  if (!values) return values.status();
  if (values->size() != chunk.decoded_size) return bad("records of another size than said");
  out.reserve(chunk.records);
  std::string_view left = *sizes, bytes = *values;
  for (std::uint64_t i = 0, size = 0; i < chunk.records; ++i) {
    if (!varint(left, size) || size > bytes.size()) return bad("a record beyond its chunk");
    out.push_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  if (!left.empty() || !bytes.empty()) return bad("bytes that belong to no record");
  return {};
}

std::string simple_data(const std::vector<std::string_view>& records, BlockCompression how) {
  std::string sizes, values, packed;
  for (std::string_view r : records) put_varint(sizes, r.size()), values += r;
  auto buffer = [&](const std::string& raw) {
    std::string out;
    if (how != BlockCompression::none) put_varint(out, raw.size());
    pack_block(how, raw, out);
    return out;
  };
  packed = buffer(sizes);
  std::string out(1, static_cast<char>(how));
  put_varint(out, packed.size());
  return out + packed + buffer(values);
}

void ChunkWriter::add(char type, std::uint64_t records, std::uint64_t decoded_size,
                      std::string_view data) {
  const std::uint64_t begin = position_, end = chunk_end(begin, data.size(), records);
  char header[kChunkHeader];
  put(header + 8, data.size());
  put(header + 16, riegeli_hash(data));
  put(header + 24, records << 8 | static_cast<unsigned char>(type));
  put(header + 32, decoded_size);
  put(header, riegeli_hash({header + 8, 32}));
  auto write = [&](std::string_view piece) {
    while (!piece.empty()) {
      if (position_ % kBlock == 0) {
        char block[kBlockHeader];
        put(block + 8, position_ - begin);
        put(block + 16, end - position_);
        put(block, riegeli_hash({block + 8, 16}));
        bytes.append(block, kBlockHeader);
        position_ += kBlockHeader;
      }
      const std::uint64_t n = std::min<std::uint64_t>(piece.size(), kBlock - position_ % kBlock);
      bytes += piece.substr(0, n);
      position_ += n;
      piece.remove_prefix(n);
    }
  };
  write({header, kChunkHeader});
  write(data);
  const std::string zero(1, '\0');
  while (position_ < end) write(zero);
}

void ChunkWriter::pad() {
  std::uint64_t left = left_in_block(position_);
  if (left == 0) return;
  if (left < kChunkHeader) left += kUsable;
  add('p', 0, 0, std::string(left - kChunkHeader, '\0'));
}

}  // namespace strata::data::riegeli
