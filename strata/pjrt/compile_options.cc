#include "strata/pjrt/compile_options.h"

#include <optional>
#include <string>

#include "strata/pjrt/error.h"

namespace strata::pjrt {
namespace {

/// A message in protobuf's wire format, a field at a time.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}
  struct Field {
    std::uint64_t number = 0, value = 0;  // value: of a varint
    std::string_view bytes;               // of a string, a message or a packed list
    bool is_bytes = false;
  };
  std::optional<Field> next() {
    if (rest_.empty()) return {};
    const std::uint64_t tag = varint();
    Field out{.number = tag >> 3};
    switch (tag & 7) {
      case 0: out.value = varint(); break;
      case 1: take(8); break;
      case 2:
        out.bytes = take(varint());
        out.is_bytes = true;
        break;
      case 5: take(4); break;
      default: broken();
    }
    return out;
  }
  /// The numbers of a list, packed or one field each.
  static std::uint64_t first(const Field& field) { return field.is_bytes ? Message(field.bytes).varint() : field.value; }

 private:
  [[noreturn]] static void broken() { fail(PJRT_Error_Code_INVALID_ARGUMENT, "the compile options are not an xla.CompileOptionsProto"); }
  std::uint64_t varint() {
    std::uint64_t out = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) broken();
      const auto byte = static_cast<unsigned char>(rest_[0]);
      rest_.remove_prefix(1);
      out |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return out;
    }
    broken();
  }
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) broken();
    std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }
  std::string_view rest_;
};

void read_assignment(std::string_view bytes, CompileOptions& out) {
  for (Message m(bytes); auto field = m.next();)
    if (field->number == 3)  // computation_devices
      for (Message devices(field->bytes); auto device = devices.next();)
        if (device->number == 1) out.device = static_cast<std::int64_t>(Message::first(*device));
}

void read_build_options(std::string_view bytes, CompileOptions& out) {
  for (Message m(bytes); auto field = m.next();) {
    if (field->number == 4) out.replicas = static_cast<std::int64_t>(field->value);
    if (field->number == 5) out.partitions = static_cast<std::int64_t>(field->value);
    if (field->number == 9) read_assignment(field->bytes, out);
  }
}

void read_override(std::string_view bytes) {
  std::string_view name;
  for (Message m(bytes); auto field = m.next();)
    if (field->number == 1) name = field->bytes;
  if (!name.starts_with("xla_")) fail(PJRT_Error_Code_INVALID_ARGUMENT, "No such compile option: '{}'", name);
}

}  // namespace

CompileOptions compile_options(std::string_view bytes) {
  CompileOptions out;
  for (Message m(bytes); auto field = m.next();) {
    if (field->number == 3) read_build_options(field->bytes, out);
    if (field->number == 7) read_override(field->bytes);
  }
  return out;
}

}  // namespace strata::pjrt
