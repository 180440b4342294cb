#include "strata/base/format/protobuf.h"

namespace strata::protobuf {

std::nullopt_t Reader::fail() {
  broken_ = true;
  rest_ = {};
  return std::nullopt;
}

std::optional<Reader::Field> Reader::next() {
  if (rest_.empty()) return {};
  const auto tag = varint();
  if (!tag) return {};
  Field out{.number = *tag >> 3, .wire = static_cast<Wire>(*tag & 7)};
  std::optional<std::uint64_t> number;
  std::optional<std::string_view> bytes;
  switch (out.wire) {
    case Wire::varint:
      if (!(number = varint())) return {};
      out.value = *number;
      return out;
    case Wire::fixed64: bytes = take(8); break;
    case Wire::fixed32: bytes = take(4); break;
    case Wire::bytes:
      if (!(number = varint())) return {};
      bytes = take(*number);
      break;
    default: return fail();
  }
  if (!bytes) return {};
  out.bytes = *bytes;
  return out;
}

std::optional<std::uint64_t> Reader::varint() {
  std::uint64_t out = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) return fail();
    const auto byte = static_cast<unsigned char>(rest_[0]);
    rest_.remove_prefix(1);
    if (shift == 63 && byte > 1) return fail();
    out |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return out;
  }
  return fail();
}

std::optional<std::string_view> Reader::take(std::uint64_t size) {
  if (size > rest_.size()) return fail();
  const std::string_view out = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return out;
}

void Writer::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
  text_ += static_cast<char>(value);
}

Writer& Writer::integer(std::uint64_t number, std::int64_t value) {
  tag(number, Wire::varint);
  varint(static_cast<std::uint64_t>(value));
  return *this;
}

Writer& Writer::bytes(std::uint64_t number, std::string_view value) {
  tag(number, Wire::bytes);
  varint(value.size());
  text_ += value;
  return *this;
}

}  // namespace strata::protobuf
