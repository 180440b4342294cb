// Messages of others in protobuf's wire format, a field at a time: for the few that we read and
// write by hand.
//
//   protobuf::Writer device;
//   device.integer(1, 7);
//   protobuf::Writer out;
//   out.bytes(2, "name").message(3, device);
//
//   protobuf::Reader fields(out.text());
//   while (auto field = fields.next()) ...       // number 2, bytes "name"; number 3, bytes of a
//   message if (fields.broken()) ...
//
// Source: protobuf.dev/programming-guides/encoding.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace strata::protobuf {

static_assert(std::endian::native == std::endian::little,
              "fixed numbers are written as the machine holds them");

/// How a value is written; strings, messages and packed lists are `bytes`.
enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// The fields of a message in their order. Any bytes may be read: those that are no message end it
/// as `broken`.
class Reader {
 public:
  struct Field {
    std::uint64_t number = 0;
    Wire wire = Wire::varint;
    std::uint64_t value = 0;      // of a varint
    std::string_view bytes = {};  // of any other
    bool is(std::uint64_t n, Wire w) const { return number == n && wire == w; }
    /// A double of fixed64, a float of fixed32.
    template <class T>
    T fixed() const {
      T out{};
      std::memcpy(&out, bytes.data(), std::min(sizeof out, bytes.size()));
      return out;
    }
  };
  explicit Reader(std::string_view message) : rest_(message) {}
  /// Nothing at the end, and from the first byte on that is out of place.
  std::optional<Field> next();
  bool broken() const { return broken_; }
  /// The next number of a packed list of varints.
  std::optional<std::uint64_t> varint();

 private:
  std::optional<std::string_view> take(std::uint64_t size);
  std::nullopt_t fail();
  std::string_view rest_;
  bool broken_ = false;
};

/// Appends fields. Readers take absent fields for zero or empty, so those need not be written.
class Writer {
 public:
  /// An int32, int64, uint64, bool or enum; those below zero as int64.
  Writer& integer(std::uint64_t number, std::int64_t value);
  /// A string, bytes or a message.
  Writer& bytes(std::uint64_t number, std::string_view value);
  Writer& real(std::uint64_t number, double value) { return fixed(number, Wire::fixed64, value); }
  Writer& real(std::uint64_t number, float value) { return fixed(number, Wire::fixed32, value); }
  Writer& message(std::uint64_t number, const Writer& value) { return bytes(number, value.text_); }
  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  template <class T>
  Writer& fixed(std::uint64_t number, Wire wire, T value) {
    tag(number, wire);
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  void tag(std::uint64_t number, Wire wire) {
    varint(number << 3 | static_cast<std::uint64_t>(wire));
  }
  void varint(std::uint64_t value);
  std::string text_;
};

}  // namespace strata::protobuf
