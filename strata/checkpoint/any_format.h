// Checkpoints of any format that is known: Strata's folders, Orbax's directories, safetensors and
// GGUF files.
//
//   auto c = any_format::find("run/400")->checkpoint;       // whatever wrote it
//   any_format::write("out", *c, any_format::Format::orbax);
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/checkpoint/checkpoint.h"

namespace strata::checkpoint::any_format {

/// orbax2: of Orbax's second API.
enum class Format { strata, orbax, orbax2, safetensors, gguf };
/// "strata", "orbax", "orbax-v1", "safetensors", "gguf".
std::string_view name(Format format);
std::optional<Format> named(std::string_view name);

/// What a path holds; nothing where nothing known is there. A folder of steps is of the format of
/// its steps. Codes of is_there.
Result<std::optional<Format>> format_of(const std::string& path);
/// The steps below a root with their folders, increasing, whether Strata wrote them or Orbax; whole
/// or not, but of a bucket those that were finished. A missing root has none.
Result<std::vector<std::pair<std::int64_t, std::string>>> steps(const std::string& root);
/// What a checkpoint lacks for its reader: Code::corrupt says that it is damaged.
using Check = std::function<Status(const Checkpoint&)>;
/// One checkpoint's folder. Codes of checkpoint::load and orbax::load; Code::corrupt also where a
/// folder of Strata's is called otherwise than its step, and where `check` says so.
Result<Checkpoint> load(const std::string& folder, const Check& check = {});
/// As checkpoint::load_latest, of steps of both formats. What fails `check` counts as what fails to
/// load.
Result<Latest> load_latest(const std::string& root, const Check& check = {});
/// As checkpoint::save, in a format of folders; Orbax's writes all tensors of each step.
Status save(const std::string& root, const Checkpoint& checkpoint, Keep keep = {},
            Format format = Format::strata, const Still& still = {});

/// As checkpoint::find, of any format. A file is one part, "model"; packed tensors of GGUF are read
/// as f32.
/// Of a run's steps those that fail `check` are passed over.
Result<Latest> find(const std::string& path, const Check& check = {});
/// All that is wrong with one checkpoint, by reading every byte of it.
std::vector<Status> verify(const std::string& path);
/// Code::not_found, and why nothing at `path` is a checkpoint.
Status no_checkpoint(const std::string& path);

/// The checkpoints' folders or files that a path means: itself, or each step of a run.
Result<std::vector<std::string>> all_of(const std::string& path);

struct WriteOptions {
  /// Of Orbax's: so many chunks along the first axis that they divide.
  std::int64_t shards = 1;
  /// Of Orbax's: chunks by zstd, as Orbax writes them.
  bool compressed = true;
  /// Of Orbax's first API: the one part is a tree in the folder itself, as StandardCheckpointer
  /// restores it.
  bool in_folder = false;
  /// Of Strata's: which others below the root stay.
  Keep keep;
};
/// Writes a checkpoint at a path; Strata's format below it, as PATH/STEP. A file takes the tensors
/// of all parts, under PART/NAME where there are several. GGUF takes plain dtypes alone: others are
/// Code::unsupported, as are dtypes that a format has no name for. Code::exists where Orbax's
/// format would replace what is no checkpoint (target.h). Throws Error as orbax::save.
Status write(const std::string& path, const Checkpoint& checkpoint, Format format,
             const WriteOptions& options = {});

}  // namespace strata::checkpoint::any_format
