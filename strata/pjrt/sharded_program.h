// A program of several devices as that of each of them, and the shardings of its arrays.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strata/ir/graph.h"

namespace strata::pjrt {

/// What one of the devices runs.
struct DeviceProgram {
  std::unique_ptr<ir::Function> function;  // as StableHLO says it
  std::unique_ptr<ir::Block> body;         // as it is compiled: collectives are calls
  /// xla.OpSharding of whole arguments and results; no bytes: whole on every device.
  std::vector<std::string> arguments, results;
};

/// Partitions the module's entry function by its shardings (Shardy's or HLO's strings); `function`
/// is null where there are none to partition by. The module is used up. Throws strata::Error for
/// shardings of another number of devices, and what partitioning throws.
DeviceProgram device_program(ir::Module& module, std::int64_t replicas, std::int64_t partitions);

}  // namespace strata::pjrt
