#include "strata/checkpoint/target.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "strata/base/file.h"
#include "strata/base/object_store/object_store.h"
#include "strata/base/presence.h"

namespace strata::checkpoint {
namespace {

namespace fs = std::filesystem;

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What an Orbax tree consists of; a save to a bucket that was interrupted leaves some of it.
bool is_of_a_tree(const std::string& name) {
  return name == "d" || name == "manifest.ocdbt" || name.starts_with("ocdbt.process_") ||
         name.starts_with("_");
}

/// Whether every folder in a bucket's folder is an item's: an interrupted save has no mark yet.
Result<bool> is_interrupted(const std::string& path, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (is_of_a_tree(name)) continue;
    const auto below = list_folder(path + "/" + name);
    if (!below && below.status().code() == Code::not_found) return false;  // an object
    if (!below) return below.status();
    if (below->empty() || !std::all_of(below->begin(), below->end(), is_of_a_tree)) return false;
  }
  return true;
}

Status refusal(const std::string& path, std::string_view what) {
  return Status(Code::exists,
                "{}: is {}, which the checkpoint would replace; name a folder that is not there, "
                "that is empty, or that is a checkpoint",
                path, what);
}

}  // namespace

Status check_target(const std::string& path) {
  if (path.empty()) return Status(Code::invalid, "{}", "the target is empty: name a folder");
  const fs::path root = fs::path(path).lexically_normal().parent_path();
  if (!is_object_path(path) && root.filename() == "checkpoints" &&
      file_exists((root.parent_path() / "config.yml").string()))
    return Status(Code::exists,
                  "{}: a run keeps its own checkpoints there, and would go on from this one; name "
                  "a folder outside of {}",
                  path, root.string());
  const auto there = is_there(path);
  if (!there) return there.status();
  if (!*there) return {};
  std::error_code error;
  if (!is_object_path(path) && !fs::is_directory(path, error)) return refusal(path, "a file");
  const auto names = list_folder(path);
  if (!names) return names.status();
  const bool checkpoint = has(*names, "_CHECKPOINT_METADATA") || has(*names, "_METADATA") ||
                          has(*names, "manifest.json");
  if (names->empty() || checkpoint) return {};
  if (is_object_path(path)) {
    const auto interrupted = is_interrupted(path, *names);
    if (!interrupted) return interrupted.status();
    if (*interrupted) return {};
  }
  return refusal(path, has(*names, "config.yml") || has(*names, "checkpoints")
                           ? "the folder of a run"
                           : "a folder of other files");
}

}  // namespace strata::checkpoint
