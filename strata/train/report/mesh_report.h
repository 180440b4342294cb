// What a step over a mesh takes of each device and moves between them, told before it runs.
#pragma once

#include <map>
#include <string>

#include "strata/train/step/step_program.h"

namespace strata::train {

/// Collectives of one kind.
struct MovedBytes {
  std::int64_t times = 0;  // in one step, loops of known length multiplied out
  std::int64_t bytes = 0;  // that a device receives in one step
};

/// By this compiler's own partitioner.
struct MeshReport {
  std::int64_t devices = 1;
  std::string axes;              // "fsdp=4, tensor=2"
  std::int64_t state_bytes = 0;  // weights and what the optimizer remembers, of a device
  std::int64_t batch_bytes = 0;  // of a device
  std::map<std::string, MovedBytes> collectives;  // "all_gather", ...
  /// Three lines.
  std::string to_string() const;
};

/// Partitions a copy of the program. Throws Error for one that does not partition.
MeshReport mesh_report(const StepProgram& program);

}  // namespace strata::train
