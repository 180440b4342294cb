#include "strata/ir/bytecode/encoding.h"

#include <bit>

namespace strata::ir::bytecode {
namespace {

constexpr std::uint8_t kPadding = 0xcb, kAligned = 0x80;

}  // namespace

std::uint8_t ByteReader::byte(std::string_view what) {
  if (at_end()) fail("expected {}, found the end", what);
  return static_cast<std::uint8_t>(bytes_[at_++]);
}

std::uint64_t ByteReader::varint(std::string_view what) {
  std::uint8_t first = byte(what);
  int more = std::countr_zero(first);  // 8 of a zero
  if (remaining() < static_cast<std::size_t>(more))
    fail("expected {} of {} bytes, found the end", what, more + 1);
  std::uint64_t value = 0;
  for (int i = more; i-- > 0;)
    value = value << 8 | static_cast<std::uint8_t>(bytes_[at_ + static_cast<std::size_t>(i)]);
  at_ += static_cast<std::size_t>(more);
  if (more == 8) return value;
  return value << (7 - more) | first >> (more + 1);
}

std::int64_t ByteReader::signed_varint(std::string_view what) {
  std::uint64_t value = varint(what);
  return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
}

std::pair<std::uint64_t, bool> ByteReader::flagged(std::string_view what) {
  std::uint64_t value = varint(what);
  return {value >> 1, (value & 1) != 0};
}

std::size_t ByteReader::index(std::size_t limit, std::string_view what) {
  std::size_t start = offset();
  std::uint64_t value = varint(what);
  if (value >= limit)
    throw FormatError{Code::invalid, start, fmt::format("{} {} of {}", what, value, limit)};
  return value;
}

std::size_t ByteReader::count(std::string_view what) {
  std::size_t start = offset();
  std::uint64_t value = varint(what);
  if (value > remaining())
    throw FormatError{Code::invalid, start,
                      fmt::format("{} {} in {} bytes", value, what, remaining())};
  return value;
}

std::string_view ByteReader::bytes(std::uint64_t size, std::string_view what) {
  if (size > remaining()) fail("expected {} of {} bytes, found {}", what, size, remaining());
  std::string_view out = bytes_.substr(at_, size);
  at_ += size;
  return out;
}

std::string_view ByteReader::terminated(std::string_view what) {
  std::size_t end = bytes_.find('\0', at_);
  if (end == std::string_view::npos) fail("expected a zero after {}", what);
  std::string_view out = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return out;
}

ByteReader ByteReader::part(std::uint64_t size, std::string_view what) {
  std::size_t start = offset();
  return ByteReader(bytes(size, what), start);
}

std::pair<Section, ByteReader> ByteReader::section() {
  std::size_t start = offset();
  std::uint8_t id = byte("the number of a section");
  std::uint64_t size = varint("the size of a section");
  if ((id & kAligned) != 0) {
    std::uint64_t alignment = varint("the alignment of a section");
    if (!std::has_single_bit(alignment))
      fail("an alignment of {}, which is no power of two", alignment);
    while (offset() % alignment != 0)
      if (byte("padding") != kPadding) fail("expected padding before a section");
  }
  id &= static_cast<std::uint8_t>(~kAligned);
  if (id >= kSections)
    throw FormatError{Code::invalid, start, fmt::format("section {} of {}", id, kSections)};
  return {static_cast<Section>(id), part(size, "a section")};
}

void ByteReader::expect_end(std::string_view what) {
  if (!at_end()) fail("{} bytes after {}", remaining(), what);
}

void ByteWriter::varint(std::uint64_t value) {
  int bytes = 1;
  while (bytes < 9 && value >> (7 * bytes) != 0) ++bytes;
  if (bytes == 9) {
    byte(0);
    for (int i = 0; i < 8; ++i) byte(static_cast<std::uint8_t>(value >> (8 * i)));
    return;
  }
  std::uint64_t coded = (value << 1 | 1) << (bytes - 1);
  for (int i = 0; i < bytes; ++i) byte(static_cast<std::uint8_t>(coded >> (8 * i)));
}

void ByteWriter::signed_varint(std::int64_t value) {
  varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
}

void ByteWriter::section(Section id, std::string_view data) {
  byte(static_cast<std::uint8_t>(id));
  blob(data);
}

}  // namespace strata::ir::bytecode
