// What a run takes of memory, told before it starts, and what would make it smaller.
//
//   const StepProgram p = step_program(config, base);
//   if (Status s = check_memory(config, base, p, progress); !s.ok()) return s;
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "strata/base/progress.h"
#include "strata/base/result.h"
#include "strata/train/step/step_program.h"

namespace strata::train {

/// Bytes of all devices of this process together.
struct MemoryNeed {
  std::int64_t weights = 0;
  /// What the optimizer remembers: moments, say.
  std::int64_t optimizer = 0;
  std::int64_t batch = 0;
  /// Between arguments and results of a step: gradients, activations. None: not known.
  std::optional<std::int64_t> between;

  std::int64_t total() const { return weights + optimizer + batch + between.value_or(0); }
  /// "weights 1.66 GB, optimizer 3.33 GB, gradients and activations 220 MB, batch 4.1 kB".
  std::string parts() const;
};

/// What the arguments of a step take: exact, by their types and shardings, of devices of which
/// `local` are this process's.
MemoryNeed arguments_need(const StepProgram& program, std::int64_t local);
/// What a step of one CPU device takes between its arguments and results. Compiles it, which the
/// run's own first step then does not do again.
std::int64_t between_bytes(const StepProgram& program);

/// "1.66 GB".
std::string size_text(std::int64_t bytes);
/// "the largest arguments: params.token_embedder 1.05 GB, ...": three, by what a device
/// holds of them.
std::string largest_arguments(const StepProgram& program);

/// What takes a step.
enum class Room {
  /// Chips of a topology, of which there can be more.
  chip,
  /// The memory of one machine.
  machine,
};
/// "what would mend it: remat_policy=full, ...; or ...": keys that would make a step smaller that
/// takes too much. What a step takes besides its state goes nearly with the tokens that a device
/// sees at once, so batches and sequences are named by the size that fits. 0 for an `available`
/// that is not known.
std::string memory_advice(const Config& config, std::int64_t length, std::int64_t state_bytes,
                          std::int64_t needed, std::int64_t available, Room room);

/// The memory that a run may take: STRATA_MEMORY_LIMIT, in bytes; else what the machine, the
/// process's limits and its control groups still give. None: STRATA_MEMORY_LIMIT=none. Throws
/// ConfigError for other words.
std::optional<std::int64_t> memory_limit();

/// Tells in one line what the run takes and what there is, and fails with Code::no_space, the
/// largest parts and what would mend it, where that is not enough. Weights that `base` holds are
/// there already. Says nothing of devices of plugins, which have memory of their own.
Status check_memory(const Config& config, const Base& base, const StepProgram& program,
                    Progress& progress);

}  // namespace strata::train
