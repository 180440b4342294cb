#include "strata/checkpoint/retention.h"

#include <algorithm>
#include <vector>

#include "strata/base/file.h"
#include "strata/base/object_store.h"
#include "strata/checkpoint/any_format.h"
#include "strata/checkpoint/orbax/directory.h"

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

}  // namespace

Status tidy(const std::string& root, std::int64_t saved, Keep keep) {
  auto names = list_folder(root);
  if (!names) return names.status();
  for (const std::string& name : *names) {
    const std::string path = root + "/" + name;
    const bool left = is_object_path(root)
                          ? orbax::is_checkpoint(path) && orbax::is_unfinished(path)
                          : name.ends_with(".tmp") || name.ends_with(orbax::kTemporary);
    if (!left) continue;
    if (Status s = is_object_path(root) ? orbax::remove(path) : remove_all(path); !s.ok()) return s;
  }
  auto all = any_format::steps(root);
  if (!all) return all.status();
  // Later steps stay: they can only be damaged ones, which the run passes again and replaces.
  std::erase_if(*all, [&](const auto& step) { return step.first >= saved; });
  for (const auto& [step, folder] : superfluous(std::move(*all), keep)) {
    if (is_object_path(root) || orbax::is_checkpoint(folder)) {
      if (Status s = orbax::remove(folder); !s.ok()) return s;
      continue;
    }
    // Renamed first, so that a crash in between leaves no half checkpoint under a step's name.
    if (Status s = rename_synced(folder, folder + ".tmp"); !s.ok()) return s;
    if (Status s = remove_all(folder + ".tmp"); !s.ok()) return s;
  }
  return {};
}

}  // namespace strata::checkpoint
