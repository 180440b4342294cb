#include "strata/checkpoint/orbax/reshard.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "strata/base/file.h"

namespace strata::checkpoint::orbax {
namespace {

using nlohmann::ordered_json;

/// The leaves of an item with their values, and how it is stored.
Result<std::vector<Leaf>> leaves_of(const Directory& directory, const std::string& item,
                                    TreeOptions& format) {
  const auto tree = directory.tree(item);
  if (!tree) return tree.status();
  format = {
      .ocdbt = tree->ocdbt(), .zarr_format = tree->zarr3() ? 3 : 2, .metadata = tree->metadata()};
  auto leaves = tree->leaves_with_entries();
  if (!leaves) return leaves.status();
  std::vector<Leaf> out = std::move(*leaves);
  std::vector<const Leaf*> arrays;
  for (const Leaf& leaf : tree->leaves())
    if (leaf.is_array()) arrays.push_back(&leaf);
  auto values = tree->read(arrays);
  if (!values) return values.status();
  auto value = values->begin();
  for (Leaf& leaf : out)
    if (leaf.is_array()) leaf.value = std::move(*value++);
  return out;
}

/// What a checkpoint says of itself: the members of its metadata that are its caller's.
Status add_metadata(const std::string& path, Contents& out) {
  const auto text = read_file(path + "/_CHECKPOINT_METADATA");
  if (!text) return text.status().code() == Code::not_found ? Status() : text.status();
  const ordered_json all = ordered_json::parse(*text, nullptr, false);
  for (const auto& [member, to] :
       {std::pair("metrics", &out.metrics), std::pair("custom_metadata", &out.custom)})
    if (all.is_object() && all.contains(member) && all[member].is_object())
      *to = all[member].dump();
  const ordered_json handlers =
      all.is_object() ? all.value("item_handlers", ordered_json()) : ordered_json();
  if (out.in_folder && handlers.is_string())
    out.handlers[out.items.begin()->first] = handlers.get<std::string>();
  if (!out.in_folder && handlers.is_object())
    for (const auto& [item, type] : handlers.items())
      if (type.is_string()) out.handlers[item] = type.get<std::string>();
  return {};
}

/// Files of items that are neither a tree nor JSON: of data iterators, say.
Status add_files(const Directory& directory, Contents& out) {
  const auto keys = FolderStore(directory.path()).list("");
  if (!keys) return keys.status();
  for (const std::string& key : *keys) {
    const std::size_t slash = key.find('/');
    const std::string item = key.substr(0, slash);
    if (slash == key.npos || out.items.count(item) || out.json.count(item)) continue;
    auto bytes = read_file(directory.path() + "/" + key);
    if (!bytes) return bytes.status();
    out.files[item][key.substr(slash + 1)] = std::move(*bytes);
  }
  return {};
}

}  // namespace

Result<Contents> read_contents(const Directory& directory) {
  Contents out;
  out.in_folder = directory.in_folder();
  for (const std::string& item : directory.trees()) {
    auto leaves = leaves_of(directory, item, out.formats[item]);
    if (!leaves) return leaves.status();
    out.items[item] = std::move(*leaves);
  }
  out.json = directory.json();
  if (Status s = add_metadata(directory.path(), out); !s.ok()) return s;
  if (!out.in_folder)
    if (Status s = add_files(directory, out); !s.ok()) return s;
  return out;
}

void cut(Leaf& leaf, std::int64_t shards) {
  if (!leaf.value) return;
  leaf.chunk = leaf.value->shape().sizes();
  for (std::int64_t& n : leaf.chunk) {
    if (shards <= 1 || n % shards) continue;
    n /= shards;
    return;
  }
}

}  // namespace strata::checkpoint::orbax
