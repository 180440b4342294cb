// Checkpoints: folders that are whole or not there.
//
//   checkpoint::save("run/checkpoints", {.step = 400, .parts = {{"params", tensors}}, .notes =
//   {{"config", text}}}, {.newest = 3}); auto latest = checkpoint::load_latest("run/checkpoints");
//   latest->damaged        // what could not be used, newest first, with the reason
//   latest->checkpoint     // the newest whole one, if any
//   checkpoint::verify("run/checkpoints/400")   // all that is wrong with one
//
// ROOT/STEP/ holds one safetensors file for each part and manifest.json: the format's version, the
// step, the notes (JSON values: configuration, state of the data, random keys), and for each file
// its size and for each tensor its type, shape and CRC-32C. The manifest ends with a checksum of
// itself. A checkpoint is written as ROOT/STEP.tmp, every file synced, the folder synced, renamed
// to STEP, and ROOT synced: a crash at any moment leaves the old ones and either nothing or the
// whole new one under its name. In a bucket, where nothing can be renamed, the manifest is written
// last and makes a checkpoint of what is there; one of the same step goes first, so that a
// failure there leaves the new one or none. Loading verifies every byte.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/checkpoint/chunks.h"
#include "strata/checkpoint/contents.h"

namespace strata::checkpoint {

/// Writes ROOT/STEP (a checkpoint of that step is replaced); once that is durable, removes those of
/// earlier steps that need not be kept. On failure (Code::no_space on a full disk) the other
/// checkpoints are as before. Tensors that stay are written once for all steps (chunks.h): those of
/// `still`, and those that the newest step has with the same bits.
Status save(const std::string& root, const Checkpoint& checkpoint, Keep keep = {},
            const Still& still = {});

/// Reads and verifies one checkpoint's folder. Code::corrupt names the file, the tensor where it is
/// one, and what is wrong; Code::not_found when there is no manifest; Code::unsupported for one
/// that a newer Strata wrote.
Result<Checkpoint> load(const std::string& folder);
/// The same of ROOT/STEP, whose manifest must be of that step.
Result<Checkpoint> load(const std::string& root, std::int64_t step);
/// All that is wrong with one checkpoint's folder: every file and tensor that is not as it was
/// written. Empty for a whole one.
std::vector<Status> verify(const std::string& folder);

/// Steps that have a folder under ROOT, increasing; whole or not, but of a bucket those with a
/// manifest. A missing ROOT has none.
Result<std::vector<std::int64_t>> steps(const std::string& root);

/// The newest whole checkpoint. Fails when ROOT may not be read, and when a checkpoint may not be
/// read or is of a newer format before a whole one is found: it is not damaged, and whoever went on
/// from an older one would replace it.
Result<Latest> load_latest(const std::string& root);

/// Where a path's checkpoints are: PATH/checkpoints for a run's folder, else PATH itself. Codes of
/// is_there.
Result<std::string> root_of(const std::string& path);
/// The checkpoint that a person means by a path: that of a checkpoint's own folder, or the newest
/// whole one of a run's folder or a root. Code::not_found when there is none, Code::corrupt when
/// none is whole.
Result<Latest> find(const std::string& path);

}  // namespace strata::checkpoint
