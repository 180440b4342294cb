// What a checkpoint (checkpoint.h) holds, which ones stay, and what is found of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/type/literal.h"

namespace strata::checkpoint {

/// Tensors by name.
using Tensors = std::map<std::string, Literal>;

/// What a checkpoint holds: tensors in parts, and notes.
struct Checkpoint {
  std::int64_t step = 0;
  /// By file name without ending: "params", "optimizer".
  std::map<std::string, Tensors> parts;
  /// By name, each a JSON value as text.
  std::map<std::string, std::string> notes;
};

/// Which checkpoints stay when one is added.
struct Keep {
  std::int64_t newest = 0;  // so many, the added one among them; 0: all
  std::int64_t every = 0;  // and all of steps that this divides (Orbax's keep_period); 0: no others
};

/// What `load_latest` and `find` return: the newest whole checkpoint, and what was damaged on the
/// way.
struct Latest {
  std::optional<Checkpoint> checkpoint;
  /// Where it was found.
  std::string folder;
  std::vector<Status> damaged;
};

}  // namespace strata::checkpoint
