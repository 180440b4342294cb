#include "strata/runtime/plugin/compile_options.h"

#include "strata/base/format/protobuf.h"

namespace strata::runtime::plugin {

using protobuf::Writer;

std::string compile_options(const CompileRequest& r) {
  Writer build;  // ExecutableBuildOptionsProto
  build.integer(1, -1).integer(4, r.replicas).integer(5, r.partitions);
  if (r.partitions > 1) {
    build.integer(6, 1);      // use_spmd_partitioning
    build.bytes(12, "\x01");  // allow_spmd_sharding_propagation_to_output, of all that say nothing
  }
  if (!r.devices.empty()) {
    Writer assignment;  // DeviceAssignmentProto: a ComputationDevice for each part
    assignment.integer(1, r.replicas).integer(2, r.partitions);
    for (std::int64_t part = 0; part < r.partitions; ++part) {
      Writer devices;
      for (std::int64_t replica = 0; replica < r.replicas; ++replica)
        devices.integer(1, r.devices.at(static_cast<std::size_t>(replica * r.partitions + part)));
      assignment.message(3, devices);
    }
    build.message(9, assignment);
  }
  if (r.shardy) build.integer(19, 1);  // use_shardy_partitioner
  Writer out;
  out.message(3, build);
  for (const auto& [name, value] : r.flags)  // map<string, OptionOverrideProto>
    out.message(7, Writer().bytes(1, name).message(2, Writer().bytes(1, value)));
  return out.take();
}

}  // namespace strata::runtime::plugin
