#include "strata/pjrt/compile_options.h"

#include "strata/base/protobuf.h"
#include "strata/pjrt/error.h"

namespace strata::pjrt {
namespace {

using Field = protobuf::Reader::Field;

[[noreturn]] void broken() {
  fail(PJRT_Error_Code_INVALID_ARGUMENT, "the compile options are not an xla.CompileOptionsProto");
}

template <class F>
void each_field(std::string_view message, F f) {
  protobuf::Reader fields(message);
  while (auto field = fields.next()) f(*field);
  if (fields.broken()) broken();
}

/// The first number of a list, packed or one field each.
std::int64_t first(const Field& field) {
  if (field.wire != protobuf::Wire::bytes) return static_cast<std::int64_t>(field.value);
  const auto number = protobuf::Reader(field.bytes).varint();
  if (!number) broken();
  return static_cast<std::int64_t>(*number);
}

void read_assignment(std::string_view bytes, CompileOptions& out) {
  each_field(bytes, [&](const Field& field) {
    if (field.number != 3) return;  // computation_devices
    each_field(field.bytes, [&](const Field& device) {
      if (device.number == 1) out.device = first(device);
    });
  });
}

void read_build_options(std::string_view bytes, CompileOptions& out) {
  each_field(bytes, [&](const Field& field) {
    if (field.number == 4) out.replicas = static_cast<std::int64_t>(field.value);
    if (field.number == 5) out.partitions = static_cast<std::int64_t>(field.value);
    if (field.number == 9) read_assignment(field.bytes, out);
  });
}

void read_override(std::string_view bytes) {
  std::string_view name;
  each_field(bytes, [&](const Field& field) {
    if (field.number == 1) name = field.bytes;
  });
  if (!name.starts_with("xla_"))
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "No such compile option: '{}'", name);
}

}  // namespace

CompileOptions compile_options(std::string_view bytes) {
  CompileOptions out;
  each_field(bytes, [&](const Field& field) {
    if (field.number == 3) read_build_options(field.bytes, out);
    if (field.number == 7) read_override(field.bytes);
  });
  return out;
}

}  // namespace strata::pjrt
