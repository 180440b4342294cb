// Removes the chunks (chunks.h) that no manifest below a root names.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "strata/base/object_store/object_store.h"
#include "strata/base/presence.h"
#include "strata/checkpoint/checkpoint.h"
#include "strata/checkpoint/chunks.h"
#include "strata/checkpoint/manifest.h"

namespace strata::checkpoint {
namespace {

/// The chunks that the manifests below a root name; nothing where one cannot be read.
Result<std::optional<std::set<std::string>>> named_below(const std::string& root) {
  using Names = std::optional<std::set<std::string>>;
  auto all = steps(root);
  if (!all) return all.status();
  std::set<std::string> out;
  for (std::int64_t step : *all) {
    const std::string folder = fmt::format("{}/{}", root, step), path = folder + "/manifest.json";
    auto text = read_file(path);
    if (!text && text.status().code() == Code::not_found) {
      auto inside = list_folder(folder);  // of another format, or lost its manifest
      if (inside && std::none_of(inside->begin(), inside->end(), [](const std::string& name) {
            return name.ends_with(".safetensors");
          }))
        continue;
    }
    auto manifest = text ? decode_manifest(*text, path) : Result<Manifest>(text.status());
    if (!manifest) return Names();
    for (const auto& [file, entry] : manifest->files)
      for (const auto& [name, t] : entry.tensors)
        if (!t.chunk.empty()) out.insert(t.chunk);
  }
  return Names(std::move(out));
}

Status remove_unnamed(const std::string& root) {
  auto names = list_folder(root + kChunkFolder);
  if (!names) return names.status().code() == Code::not_found ? Status() : names.status();
  auto named = named_below(root);
  if (!named) return named.status();
  if (!*named) return {};
  for (const std::string& name : *names) {
    if (name == kChunkLock || (*named)->count(name)) continue;
    if (Status s = remove_all(root + kChunkFolder + "/" + name); !s.ok()) return s;
  }
  return {};
}

}  // namespace

Status collect_chunks(const std::string& root) {
  if (is_object_path(root)) return remove_unnamed(root);
  const auto there = is_there(root + kChunkFolder);
  if (!there) return there.status();
  if (!*there) return {};
  auto lock = FileLock::take(root + kChunkFolder + "/" + kChunkLock);
  if (!lock) return lock.status().code() == Code::exists ? Status() : lock.status();
  return remove_unnamed(root);
}

}  // namespace strata::checkpoint
