// What is asked of another compiler: xla.CompileOptionsProto in protobuf's wire format.
//
// Source: openxla/xla, xla/pjrt/proto/compile_options.proto.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace strata::runtime::plugin {

struct CompileRequest {
  /// Copies of the program, and the parts into which each is cut by its shardings.
  std::int64_t replicas = 1, partitions = 1;
  /// Whether shardings are Shardy's (sdy.sharding) rather than GSPMD's (mhlo.sharding).
  bool shardy = false;
  /// The devices, replicas times partitions, part by part; empty: the compiler's own choice.
  std::vector<std::int64_t> devices = {};
  /// Flags of XLA by name: {"xla_gpu_autotune_level", "0"}.
  std::vector<std::pair<std::string, std::string>> flags = {};
};

std::string compile_options(const CompileRequest& request);

}  // namespace strata::runtime::plugin
