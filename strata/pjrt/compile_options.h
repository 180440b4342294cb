// What a framework asks of a compilation: the fields of xla.CompileOptionsProto that mean something
// here.
//
// Source: openxla/xla, xla/pjrt/proto/compile_options.proto, in protobuf's wire format. Flags of
// XLA's own compiler ("xla_...") are its own: they are read past.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace strata::pjrt {

struct CompileOptions {
  std::int64_t replicas = 1, partitions = 1;
  /// The assignment: devices by replica, then by partition; empty: the first ones in order.
  std::vector<std::int64_t> devices;
};

/// Throws Failure for bytes that are no such message and for options that nobody knows.
CompileOptions compile_options(std::string_view bytes);

}  // namespace strata::pjrt
