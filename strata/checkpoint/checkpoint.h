// Checkpoints: folders that are whole or not there.
//
//   checkpoint::save("run/checkpoints", {.step = 400, .parts = {{"params", tensors}}, .notes = {{"config", text}}}, 3);
//   auto latest = checkpoint::load_latest("run/checkpoints");
//   latest->damaged        // what could not be used, newest first, with the reason
//   latest->checkpoint     // the newest whole one, if any
//
// ROOT/STEP/ holds one safetensors file for each part and manifest.json: the format's version, the step, the notes (JSON
// values: configuration, state of the data, random keys), and for each file its size and for each tensor its type, shape
// and CRC-32C. The manifest ends with a checksum of itself. A checkpoint is written as ROOT/STEP.tmp, every file synced,
// the folder synced, renamed to STEP, and ROOT synced: a crash at any moment leaves the old ones and either nothing or
// the whole new one under its name. Loading verifies every byte.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/type/literal.h"

namespace strata::checkpoint {

using Tensors = std::map<std::string, Literal>;

struct Checkpoint {
  std::int64_t step = 0;
  /// By file name without ending: "params", "optimizer".
  std::map<std::string, Tensors> parts;
  /// By name, each a JSON value as text.
  std::map<std::string, std::string> notes;
};

/// Writes ROOT/STEP (a checkpoint of that step is replaced) and removes those of earlier steps but the newest `keep - 1`.
/// keep = 0 keeps all. On failure (Code::no_space on a full disk) the other checkpoints are as before.
Status save(const std::string& root, const Checkpoint& checkpoint, std::int64_t keep = 0);

/// Reads and verifies one checkpoint's folder. Code::corrupt names the file and what is wrong with it; Code::not_found
/// when there is no manifest.
Result<Checkpoint> load(const std::string& folder);

/// Steps that have a folder under ROOT, increasing; whole or not. A missing ROOT has none.
Result<std::vector<std::int64_t>> steps(const std::string& root);

struct Latest {
  std::optional<Checkpoint> checkpoint;
  /// Where it was found.
  std::string folder;
  std::vector<Status> damaged;
};
/// The newest whole checkpoint. Fails only when ROOT cannot be read.
Result<Latest> load_latest(const std::string& root);

}  // namespace strata::checkpoint
