#include "strata/train/events.h"

#include <bit>
#include <cstring>
#include <optional>

#include "strata/base/checksum.h"

namespace strata::train {
namespace {

static_assert(std::endian::native == std::endian::little, "records are written as the machine holds them");

enum Wire : std::uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
// tensorflow.Event
constexpr std::uint64_t kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5;
// tensorflow.Summary and its Value
constexpr std::uint64_t kValue = 1, kTag = 1, kSimpleValue = 2;

constexpr std::size_t kHeader = 12, kFooter = 4;

template <class T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void append_key(std::string& out, std::uint64_t field, Wire wire) { append_varint(out, field << 3 | wire); }

void append_bytes(std::string& out, std::uint64_t field, std::string_view bytes) {
  append_key(out, field, kBytes);
  append_varint(out, bytes.size());
  out += bytes;
}

/// The fields of a message, one after the other.
class Fields {
 public:
  explicit Fields(std::string_view rest) : rest_(rest) {}

  /// Goes to the next field; false at the end, or when the bytes are no message.
  bool next() {
    if (rest_.empty() || bad_) return false;
    auto key = varint();
    if (!key) return fail();
    number = *key >> 3;
    wire = static_cast<Wire>(*key & 7);
    switch (wire) {
      case kVarint: return take_varint();
      case kFixed64: return take(8);
      case kFixed32: return take(4);
      case kBytes: return take_bytes();
    }
    return fail();
  }
  bool bad() const { return bad_; }
  bool is(std::uint64_t field, Wire type) const { return number == field && wire == type; }
  template <class T>
  T fixed() const {
    T out;
    std::memcpy(&out, bytes.data(), sizeof out);
    return out;
  }

  std::uint64_t number = 0, integer = 0;
  Wire wire = kVarint;
  std::string_view bytes;

 private:
  bool fail() {
    bad_ = true;
    return false;
  }
  std::optional<std::uint64_t> varint() {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < 10 && i < rest_.size(); ++i) {
      const auto byte = static_cast<unsigned char>(rest_[i]);
      if (i == 9 && byte > 1) return {};
      out |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
      if (byte < 0x80) {
        rest_.remove_prefix(i + 1);
        return out;
      }
    }
    return {};
  }
  bool take_varint() {
    auto value = varint();
    if (!value) return fail();
    integer = *value;
    return true;
  }
  bool take(std::uint64_t count) {
    if (count > rest_.size()) return fail();
    bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return true;
  }
  bool take_bytes() {
    auto count = varint();
    return count ? take(*count) : fail();
  }

  std::string_view rest_;
  bool bad_ = false;
};

/// One value of a summary; none for one that is no simple scalar.
bool read_value(std::string_view bytes, Event& event) {
  Fields f(bytes);
  std::string tag;
  std::optional<float> value;
  while (f.next()) {
    if (f.is(kTag, kBytes)) tag = f.bytes;
    if (f.is(kSimpleValue, kFixed32)) value = f.fixed<float>();
  }
  if (value) event.scalars.emplace_back(tag, *value);
  return !f.bad();
}

bool read_summary(std::string_view bytes, Event& event) {
  Fields f(bytes);
  while (f.next()) {
    if (f.is(kValue, kBytes) && !read_value(f.bytes, event)) return false;
  }
  return !f.bad();
}

/// The record at the start of `bytes`, or why there is none.
Result<std::string_view> read_record(std::string_view bytes, std::size_t at, const std::string& name) {
  if (bytes.size() < kHeader + kFooter) return Status(Code::corrupt, "{}: the record at byte {} is cut", name, at);
  std::uint64_t length = 0;
  std::uint32_t sum = 0;
  std::memcpy(&length, bytes.data(), 8);
  std::memcpy(&sum, bytes.data() + 8, 4);
  if (sum != masked_crc32c(bytes.substr(0, 8)))
    return Status(Code::corrupt, "{}: the length of the record at byte {} does not match its checksum", name, at);
  if (length > bytes.size() - kHeader - kFooter)
    return Status(Code::corrupt, "{}: the record at byte {} is cut: {} bytes of {}", name, at, bytes.size() - kHeader, length + kFooter);
  const std::string_view data = bytes.substr(kHeader, length);
  std::memcpy(&sum, data.data() + length, 4);
  if (sum != masked_crc32c(data)) return Status(Code::corrupt, "{}: the record at byte {} does not match its checksum", name, at);
  return data;
}

}  // namespace

std::uint32_t masked_crc32c(std::string_view bytes) {
  const std::uint32_t sum = crc32c(bytes);
  return std::rotr(sum, 15) + 0xa282ead8u;
}

std::string encode_event(const Event& event) {
  std::string out;
  append_key(out, kWallTime, kFixed64);
  append(out, event.wall_time);
  append_key(out, kStep, kVarint);
  append_varint(out, static_cast<std::uint64_t>(event.step));
  if (!event.file_version.empty()) append_bytes(out, kFileVersion, event.file_version);
  if (event.scalars.empty()) return out;
  std::string summary;
  for (const auto& [tag, number] : event.scalars) {
    std::string value;
    append_bytes(value, kTag, tag);
    append_key(value, kSimpleValue, kFixed32);
    append(value, number);
    append_bytes(summary, kValue, value);
  }
  append_bytes(out, kSummary, summary);
  return out;
}

Result<Event> decode_event(std::string_view bytes, const std::string& name) {
  Event out;
  Fields f(bytes);
  bool whole = true;
  while (whole && f.next()) {
    if (f.is(kWallTime, kFixed64)) out.wall_time = f.fixed<double>();
    if (f.is(kStep, kVarint)) out.step = static_cast<std::int64_t>(f.integer);
    if (f.is(kFileVersion, kBytes)) out.file_version = f.bytes;
    if (f.is(kSummary, kBytes)) whole = read_summary(f.bytes, out);
  }
  if (f.bad() || !whole) return Status(Code::corrupt, "{}: {} bytes are no event", name, bytes.size());
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
