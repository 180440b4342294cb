#include "strata/train/report/events.h"

#include <bit>
#include <cstring>
#include <optional>

#include "strata/base/checksum.h"
#include "strata/base/format/protobuf.h"

namespace strata::train {
namespace {

using protobuf::Wire;

static_assert(std::endian::native == std::endian::little,
              "records are written as the machine holds them");

// tensorflow.Event
constexpr std::uint64_t kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5;
// tensorflow.Summary and its Value
constexpr std::uint64_t kValue = 1, kTag = 1, kSimpleValue = 2;

constexpr std::size_t kHeader = 12, kFooter = 4;

template <class T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// One value of a summary; none for one that is no simple scalar.
bool read_value(std::string_view bytes, Event& event) {
  protobuf::Reader fields(bytes);
  std::string tag;
  std::optional<float> value;
  while (auto f = fields.next()) {
    if (f->is(kTag, Wire::bytes)) tag = f->bytes;
    if (f->is(kSimpleValue, Wire::fixed32)) value = f->fixed<float>();
  }
  if (value) event.scalars.emplace_back(tag, *value);
  return !fields.broken();
}

bool read_summary(std::string_view bytes, Event& event) {
  protobuf::Reader fields(bytes);
  while (auto f = fields.next()) {
    if (f->is(kValue, Wire::bytes) && !read_value(f->bytes, event)) return false;
  }
  return !fields.broken();
}

/// The record at the start of `bytes`, or why there is none.
Result<std::string_view> read_record(std::string_view bytes, std::size_t at,
                                     const std::string& name) {
  if (bytes.size() < kHeader + kFooter)
    return Status(Code::corrupt, "{}: the record at byte {} is cut", name, at);
  std::uint64_t length = 0;
  std::uint32_t sum = 0;
  std::memcpy(&length, bytes.data(), 8);
  std::memcpy(&sum, bytes.data() + 8, 4);
  if (sum != masked_crc32c(bytes.substr(0, 8)))
    return Status(Code::corrupt,
                  "{}: the length of the record at byte {} does not match its checksum", name, at);
  if (length > bytes.size() - kHeader - kFooter)
    return Status(Code::corrupt, "{}: the record at byte {} is cut: {} bytes of {}", name, at,
                  bytes.size() - kHeader, length + kFooter);
  const std::string_view data = bytes.substr(kHeader, length);
  std::memcpy(&sum, data.data() + length, 4);
  if (sum != masked_crc32c(data))
    return Status(Code::corrupt, "{}: the record at byte {} does not match its checksum", name, at);
  return data;
}

}  // namespace

std::uint32_t masked_crc32c(std::string_view bytes) {
  const std::uint32_t sum = crc32c(bytes);
  return std::rotr(sum, 15) + 0xa282ead8u;
}

std::string encode_event(const Event& event) {
  protobuf::Writer out, summary;
  out.real(kWallTime, event.wall_time).integer(kStep, event.step);
  if (!event.file_version.empty()) out.bytes(kFileVersion, event.file_version);
  if (event.scalars.empty()) return out.take();
  for (const auto& [tag, number] : event.scalars)
    summary.message(kValue, protobuf::Writer().bytes(kTag, tag).real(kSimpleValue, number));
  return out.message(kSummary, summary).take();
}

Result<Event> decode_event(std::string_view bytes, const std::string& name) {
  Event out;
  protobuf::Reader fields(bytes);
  bool whole = true;
  while (whole) {
    const auto f = fields.next();
    if (!f) break;
    if (f->is(kWallTime, Wire::fixed64)) out.wall_time = f->fixed<double>();
    if (f->is(kStep, Wire::varint)) out.step = static_cast<std::int64_t>(f->value);
    if (f->is(kFileVersion, Wire::bytes)) out.file_version = f->bytes;
    if (f->is(kSummary, Wire::bytes)) whole = read_summary(f->bytes, out);
  }
  if (fields.broken() || !whole)
    return Status(Code::corrupt, "{}: {} bytes are no event", name, bytes.size());
  return out;
}

std::string encode_record(std::string_view data) {
  std::string out;
  append(out, static_cast<std::uint64_t>(data.size()));
  append(out, masked_crc32c(out));
  out += data;
  append(out, masked_crc32c(data));
  return out;
}

EventFile read_events(std::string_view bytes, const std::string& name) {
  EventFile out;
  for (std::size_t at = 0; at < bytes.size();) {
    auto data = read_record(bytes.substr(at), at, name);
    auto event = data ? decode_event(*data, name) : Result<Event>(data.status());
    if (!event) {
      out.damage = event.status();
      return out;
    }
    at += kHeader + data->size() + kFooter;
    out.events.push_back(std::move(*event));
    out.ends.push_back(at);
  }
  return out;
}

}  // namespace strata::train
