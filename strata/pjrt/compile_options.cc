#include "strata/pjrt/compile_options.h"

#include "strata/base/format/protobuf.h"
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

/// The numbers of a list, packed or one field each.
void add_all(const Field& field, std::vector<std::int64_t>& out) {
  if (field.wire != protobuf::Wire::bytes)
    return out.push_back(static_cast<std::int64_t>(field.value));
  protobuf::Reader numbers(field.bytes);
  while (const auto number = numbers.varint()) out.push_back(static_cast<std::int64_t>(*number));
}

/// computation_devices: one of each partition, which lists its replicas.
void read_assignment(std::string_view bytes, CompileOptions& out) {
  std::vector<std::vector<std::int64_t>> partitions;
  each_field(bytes, [&](const Field& field) {
    if (field.number != 3) return;
    partitions.emplace_back();
    each_field(field.bytes, [&](const Field& device) {
      if (device.number == 1) add_all(device, partitions.back());
    });
  });
  out.devices.clear();
  for (std::size_t r = 0; !partitions.empty() && r < partitions[0].size(); ++r)
    for (const auto& p : partitions) {
      if (p.size() != partitions[0].size()) broken();
      out.devices.push_back(p[r]);
    }
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
  if (out.replicas < 1) out.replicas = 1;
  if (out.partitions < 1) out.partitions = 1;
  constexpr std::int64_t kMost = 1 << 20;  // devices
  if (out.replicas > kMost || out.partitions > kMost || out.replicas * out.partitions > kMost)
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "{} replicas of {} partitions", out.replicas,
         out.partitions);
  const auto n = static_cast<std::size_t>(out.replicas * out.partitions);
  if (out.devices.empty())
    for (std::size_t i = 0; i < n; ++i) out.devices.push_back(static_cast<std::int64_t>(i));
  if (out.devices.size() != n)
    fail(PJRT_Error_Code_INVALID_ARGUMENT,
         "the assignment has {} devices for {} replicas of {} partitions", out.devices.size(),
         out.replicas, out.partitions);
  return out;
}

}  // namespace strata::pjrt
