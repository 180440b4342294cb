// Removes checkpoints of every format (retention.h).
#include <algorithm>
#include <vector>

#include "strata/base/file.h"
#include "strata/base/object_store/object_store.h"
#include "strata/base/presence.h"
#include "strata/checkpoint/any_format.h"
#include "strata/checkpoint/chunks.h"
#include "strata/checkpoint/orbax/directory.h"
#include "strata/checkpoint/retention.h"

namespace strata::checkpoint {
namespace {

using Steps = std::vector<std::pair<std::int64_t, std::string>>;

/// Of the steps before the saved one, increasing, those that need not be kept.
Steps superfluous(Steps before, Keep keep) {
  if (keep.newest <= 0) return {};
  before.resize(before.size() - std::min(before.size(), static_cast<std::size_t>(keep.newest - 1)));
  if (keep.every > 0)
    std::erase_if(before, [&](const auto& step) { return step.first % keep.every == 0; });
  return before;
}

/// Whether a folder of a bucket is a step that a save has not finished.
Result<bool> is_left_in_bucket(const std::string& path, const std::string& name) {
  if (name.find_first_not_of("0123456789") != name.npos) return false;
  auto inside = list_folder(path);  // one request tells of all marks
  if (!inside && inside.status().code() == Code::not_found) return false;
  if (!inside) return inside.status();
  const auto has = [&](const char* mark) {
    return std::binary_search(inside->begin(), inside->end(), mark);
  };
  return !has("manifest.json") && !has("commit_success.txt");
}

}  // namespace

Status tidy(const std::string& root, std::int64_t saved, Keep keep) {
  auto names = list_folder(root);
  if (!names) return names.status();
  for (const std::string& name : *names) {
    const std::string path = root + "/" + name;
    auto left = is_object_path(root)
                    ? is_left_in_bucket(path, name)
                    : Result<bool>(name.ends_with(".tmp") || name.ends_with(orbax::kTemporary));
    if (!left) return left.status();
    if (!*left) continue;
    if (Status s = is_object_path(root) ? remove_step(path) : remove_all(path); !s.ok()) return s;
  }
  auto all = any_format::steps(root);
  if (!all) return all.status();
  // Later steps stay: they can only be damaged ones, which the run passes again and replaces.
  std::erase_if(*all, [&](const auto& step) { return step.first >= saved; });
  for (const auto& [step, folder] : superfluous(std::move(*all), keep))
    if (Status s = remove_step(folder); !s.ok()) return s;
  return collect_chunks(root);
}

Status remove_step(const std::string& folder) {
  if (is_object_path(folder)) {
    const auto there = is_there(folder);
    if (!there) return there.status();
    if (!*there) return {};
    // What tells that it is one goes first.
    if (Status s = remove_all(folder + "/manifest.json"); !s.ok()) return s;
    return orbax::remove(folder);
  }
  const auto orbax = orbax::is_checkpoint(folder);
  if (!orbax) return orbax.status();
  if (*orbax) return orbax::remove(folder);
  const auto there = is_there(folder);
  if (!there) return there.status();
  if (!*there) return {};
  // Renamed first, so that a crash in between leaves no half checkpoint under a step's name.
  if (Status s = remove_all(folder + ".tmp"); !s.ok()) return s;
  if (Status s = rename_synced(folder, folder + ".tmp"); !s.ok()) return s;
  return remove_all(folder + ".tmp");
}

}  // namespace strata::checkpoint
