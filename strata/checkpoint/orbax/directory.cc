#include "strata/checkpoint/orbax/directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "strata/base/file.h"
#include "strata/base/object_store/object_store.h"
#include "strata/base/presence.h"
#include "strata/checkpoint/store/commit.h"

namespace strata::checkpoint::orbax {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kMetadata = "_CHECKPOINT_METADATA";
/// The ending of the note that has an item's texts.
constexpr const char* kTexts = ".texts";
constexpr const char* kMark = "commit_success.txt";
constexpr const char* kTree =
    "orbax.checkpoint._src.handlers.pytree_checkpoint_handler.PyTreeCheckpointHandler";
constexpr const char* kJson =
    "orbax.checkpoint._src.handlers.json_checkpoint_handler.JsonCheckpointHandler";
constexpr const char* kTree2 =
    "orbax.checkpoint.experimental.v1._src.handlers.pytree_handler.PyTreeHandler";
constexpr const char* kJson2 =
    "orbax.checkpoint.experimental.v1._src.handlers.json_handler.JsonHandler";

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string done(const std::string& path) { return "Checkpoint commit was successful to " + path; }

ordered_json object(const std::string& text) {
  ordered_json out = ordered_json::parse(text, nullptr, false);
  if (!out.is_object()) throw Error("orbax", "metrics and custom metadata are JSON objects");
  return out;
}

/// All files of a checkpoint but the marks of its end.
Status write_items(KeyValueStore& store, const Contents& contents, const SaveOptions& options,
                   ordered_json& handlers) {
  const auto handler = [&](const std::string& item, const char* usual) {
    const auto named = contents.handlers.find(item);
    return named == contents.handlers.end() ? usual : named->second;
  };
  if (contents.in_folder && contents.items.size() != 1)
    throw Error("orbax", "{} trees cannot stand in one folder", contents.items.size());
  TreeOptions usual = options.tree;
  if (options.api == 2) usual.zarr_format = 3;
  for (const auto& [item, leaves] : contents.items) {
    ordered_json& written_by = contents.in_folder ? handlers : handlers[item];
    written_by = handler(item, options.api == 2 ? kTree2 : kTree);
    const auto own = contents.formats.find(item);
    if (Status s = write_pytree(store, contents.in_folder ? "" : item + "/", leaves,
                                own == contents.formats.end() ? usual : own->second);
        !s.ok())
      return s;
  }
  if (contents.in_folder) return {};
  for (const auto& [item, text] : contents.json) {
    handlers[item] = handler(item, options.api == 2 ? kJson2 : kJson);
    const std::string file = item + (item == "metrics"  ? "/metrics"
                                     : options.api == 2 ? "/data.json"
                                                        : "/metadata");
    if (Status s = store.write(file, std::string_view(text)); !s.ok()) return s;
  }
  for (const auto& [item, files] : contents.files) {
    if (contents.handlers.count(item)) handlers[item] = contents.handlers.at(item);
    for (const auto& [file, text] : files)
      if (Status s = store.write(item + "/" + file, std::string_view(text)); !s.ok()) return s;
  }
  return {};
}

Status write_all(const std::string& folder, const std::string& path, const Contents& contents,
                 const SaveOptions& options) {
  FolderStore store = is_object_path(folder) ? FolderStore(folder) : FolderStore::unnamed(folder);
  ordered_json metadata = {{"item_handlers", ordered_json::object()},
                           {"metrics", object(contents.metrics)},
                           {"performance_metrics", ordered_json::object()},
                           {"init_timestamp_nsecs", now()},
                           {"commit_timestamp_nsecs", nullptr},
                           {"custom_metadata", object(contents.custom)}};
  if (is_object_path(folder))  // first of all: what a crash leaves there is known for a checkpoint
    if (Status s = store.write(kMetadata, std::string_view(metadata.dump())); !s.ok()) return s;
  if (Status s = write_items(store, contents, options, metadata["item_handlers"]); !s.ok())
    return s;
  metadata["commit_timestamp_nsecs"] = now();
  if (Status s = store.write(kMetadata, std::string_view(metadata.dump())); !s.ok()) return s;
  if (options.api == 2)
    if (Status s = store.write("orbax.checkpoint", std::string_view()); !s.ok()) return s;
  if (is_object_path(folder)) return commit_object(folder + "/" + kMark, done(path));
  if (Status s = store.write(kMark, std::string_view(done(path))); !s.ok()) return s;
  return store.sync();
}

std::optional<std::int64_t> step_of(const std::string& name) {
  if (name.ends_with(kTemporary)) return {};
  const std::size_t begin = name.find_last_not_of("0123456789") + 1;
  if (begin == name.size() || (begin > 0 && (name[begin - 1] != '_' || begin == 1))) return {};
  std::int64_t out = 0;
  auto [end, error] = std::from_chars(name.data() + begin, name.data() + name.size(), out);
  if (error != std::errc()) return {};
  return out;
}

/// The text of a file; none where it is not there.
Result<std::optional<std::string>> text_of(const std::string& path) {
  auto bytes = read_file(path);
  if (bytes) return std::optional(std::move(*bytes));
  if (bytes.status().code() == Code::not_found) return std::optional<std::string>();
  return bytes.status();
}

/// Removes a checkpoint's objects: the mark first, what tells that it was one last. What is not
/// there is not asked to go: such a request, come late, would take what is written meanwhile.
Status remove_from_bucket(const std::string& path) {
  auto keys = FolderStore(path).list("");
  if (!keys) return keys.status();
  const auto order = [](const std::string& key) {
    return key == kMark ? 0 : key == kMetadata ? 2 : 1;
  };
  std::stable_sort(keys->begin(), keys->end(),
                   [&](const auto& a, const auto& b) { return order(a) < order(b); });
  for (const std::string& key : *keys)
    if (Status s = remove_all(path + "/" + key); !s.ok()) return s;
  return {};
}

/// Where nothing can be renamed: the mark at the end makes a checkpoint of what is there.
Status save_to_bucket(const std::string& path, const Contents& contents,
                      const SaveOptions& options) {
  if (Status s = remove_from_bucket(path); !s.ok()) return s;
  Status written;
  try {
    written = write_all(path, path, contents, options);
  } catch (const Error&) {
    (void)remove_from_bucket(path);
    throw;
  }
  // The first failure is the one to report. What another process committed stays.
  if (!written.ok() && written.code() != Code::exists) (void)remove_from_bucket(path);
  return written;
}

/// The names in a folder; none where it is not there.
Result<std::vector<std::string>> names_in(const std::string& folder) {
  auto out = list_folder(folder);
  if (!out && out.status().code() == Code::not_found) return std::vector<std::string>();
  return out;
}

bool has(const std::vector<std::string>& sorted, std::string_view name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

/// Whether an item says what made the checkpoint: the second API lists it, and Orbax itself reads
/// checkpoints without it.
bool is_descriptor(const ordered_json& type) {
  return type.is_string() && type.get<std::string>().ends_with("DescriptorHandler");
}

/// Names of leaves in one tree: keys joined by `/`. Where two would be called the same, as those of
/// {"a/b": x, "a": {"b": y}}, a `/` within a key is `~1`, as in JSON pointers.
std::vector<std::string> names_of(const std::vector<const Leaf*>& leaves) {
  std::map<std::string, int> times;
  for (const Leaf* leaf : leaves) ++times[leaf->name()];
  std::vector<std::string> out;
  for (const Leaf* leaf : leaves) {
    out.push_back(leaf->name());
    if (times[out.back()] == 1) continue;
    Leaf escaped{.path = leaf->path};
    for (Key& key : escaped.path)
      for (std::size_t at = 0; (at = key.name.find('/', at)) != key.name.npos;)
        key.name.replace(at, 1, "~1");
    out.back() = escaped.name();
  }
  return out;
}

/// The path of a tensor's name, whose `/` make levels; of the empty one the tree itself.
std::vector<Key> path_of(const std::string& name) {
  std::vector<Key> out;
  for (std::size_t begin = 0; !name.empty() && begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    out.push_back({name.substr(begin, end - begin)});
    begin = end + 1;
  }
  return out;
}

/// Adds the texts that `load` made a note of to their tree; false where the note is none of its.
bool add_texts(std::map<std::string, std::vector<Leaf>>& items, const std::string& note,
               const std::string& text) {
  const std::size_t end = note.rfind(kTexts);
  if (end == note.npos || end + std::string_view(kTexts).size() != note.size()) return false;
  const auto item = items.find(note.substr(0, end));
  const ordered_json texts = ordered_json::parse(text, nullptr, false);
  if (item == items.end() || !texts.is_object()) return false;
  for (const auto& [name, value] : texts.items())
    if (!value.is_string()) return false;
  for (const auto& [name, value] : texts.items())
    item->second.push_back(
        {.path = path_of(name), .kind = Kind::string, .text = value.get<std::string>()});
  return true;
}

/// The folder that a path means: itself, or the newest step below it.
Result<std::string> folder_of(const std::string& path) {
  const auto itself = is_checkpoint(path);
  if (!itself) return itself.status();
  if (*itself) return path;
  auto all = steps(path);
  if (!all) return all.status();
  if (all->empty()) return Status(Code::not_found, "{}: no checkpoint there", path);
  return all->back().second;
}

}  // namespace

Status save(const std::string& path, const Contents& contents, const SaveOptions& options) {
  if (is_object_path(path)) return save_to_bucket(path, contents, options);
  const fs::path parent = fs::path(path).parent_path();
  const std::string beside = path + kTemporary;
  if (Status s = make_folders(parent.empty() ? "." : parent.string()); !s.ok()) return s;
  if (Status s = remove_all(beside); !s.ok()) return s;
  if (Status s = make_folders(beside); !s.ok()) return s;
  Status written;
  try {
    written = write_all(beside, path, contents, options);
  } catch (const Error&) {  // what cannot be written leaves nothing either
    (void)remove_all(beside);
    throw;
  }
  if (written.ok()) written = exchange_synced(beside, path);
  const Status removed = remove_all(beside);  // the old one, or what could not be finished
  return written.ok() ? removed : written;
}

Status remove(const std::string& path) {
  if (is_object_path(path)) return remove_from_bucket(path);
  const auto there = is_there(path);
  if (!there) return there.status();
  if (!*there) return {};
  // Renamed first, so that a crash in between leaves no half checkpoint under its name.
  const std::string aside = path + kTemporary;
  if (Status s = remove_all(aside); !s.ok()) return s;
  if (Status s = rename_synced(path, aside); !s.ok()) return s;
  return remove_all(aside);
}

Result<bool> is_unfinished(const std::string& path) {
  if (!is_object_path(path)) return false;
  const auto names = list_folder(path);
  if (!names) return names.status();
  return std::find(names->begin(), names->end(), kMark) == names->end();
}

Result<bool> is_checkpoint(const std::string& path) {
  const auto first = is_there(path + "/" + kMetadata);
  return !first || *first ? first : is_there(path + "/_METADATA");
}

Result<Directory> Directory::open(const std::string& path) {
  const auto known = is_checkpoint(path);
  if (!known) return known.status();
  if (!*known) return Status(Code::not_found, "{}: no checkpoint of Orbax", path);
  if (fs::path(path).filename().string().ends_with(kTemporary))
    return Status(Code::corrupt, "{}: was not finished", path);
  const auto unfinished = is_unfinished(path);
  if (!unfinished) return unfinished.status();
  if (*unfinished) return Status(Code::corrupt, "{}: was not finished: {} is missing", path, kMark);
  Directory out;
  out.path_ = path;
  out.store_ = std::make_shared<FolderStore>(path);
  auto names = list_folder(path);
  if (!names) return names.status();
  const auto text = text_of(path + "/" + kMetadata);
  if (!text) return text.status();
  if (*text) {
    const ordered_json metadata = ordered_json::parse(**text, nullptr, false);
    if (!metadata.is_object())
      return Status(Code::corrupt, "{}/{}: is no JSON object", path, kMetadata);
    const ordered_json time = metadata.value("commit_timestamp_nsecs", ordered_json());
    if (time.is_number_integer()) out.commit_time_ = time.get<std::int64_t>();
    const ordered_json handlers = metadata.value("item_handlers", ordered_json());
    if (handlers.is_object())
      for (const auto& [item, type] : handlers.items())
        if (is_plain_key(item) && !is_descriptor(type) && !has(*names, item))
          return Status(Code::corrupt, "{}/{}: the item is missing", path, item);
  }
  if (has(*names, "_METADATA")) {
    out.in_folder_ = true;
    out.trees_.push_back("default");
    return out;
  }
  const auto no_tree = [](const std::string& folder) {
    return Status(Code::corrupt, "{}: there are arrays and no _METADATA, which says of what",
                  folder);
  };
  // Without `_METADATA` nobody knows of which tree arrays are.
  if (has(*names, "manifest.ocdbt")) return no_tree(path);
  for (const std::string& name : *names) {
    const std::string folder = path + "/" + name;
    const auto inside = names_in(folder);
    if (!inside) return inside.status();
    if (has(*inside, "_METADATA")) {
      out.trees_.push_back(name);
      continue;
    }
    if (has(*inside, "manifest.ocdbt")) return no_tree(folder);
    for (const char* file : {"metadata", "data.json", "metrics"}) {
      if (!has(*inside, file)) continue;
      auto value = text_of(folder + "/" + file);
      if (!value) return value.status();
      if (*value) out.json_[name] = std::move(**value);
    }
  }
  return out;
}

Result<PyTree> Directory::tree(const std::string& item) const {
  if (std::find(trees_.begin(), trees_.end(), item) == trees_.end())
    return Status(Code::not_found, "{}: no item '{}' that is a tree", path_, item);
  return PyTree::open(store_, in_folder_ ? "" : item + "/");
}

Result<std::vector<std::pair<std::int64_t, std::string>>> steps(const std::string& root) {
  const bool bucket = is_object_path(root);
  auto names = bucket ? names_in(root) : list_folder(root);
  if (!names) return names.status();
  std::vector<std::pair<std::int64_t, std::string>> out;
  for (const std::string& name : *names) {
    const auto step = step_of(name);
    if (!step) continue;
    const std::string folder = root + "/" + name;
    if (!bucket) {
      const auto known = is_checkpoint(folder);
      if (!known) return known.status();
      if (*known) out.emplace_back(*step, folder);
      continue;
    }
    auto inside = names_in(folder);  // one request tells of all marks
    if (!inside) return inside.status();
    if (has(*inside, kMark) && (has(*inside, kMetadata) || has(*inside, "_METADATA")))
      out.emplace_back(*step, folder);
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<Checkpoint> load(const std::string& path) {
  auto folder = folder_of(path);
  if (!folder) return folder.status();
  auto directory = Directory::open(*folder);
  if (!directory) return directory.status();
  Checkpoint out;
  out.step = step_of(fs::path(*folder).filename().string()).value_or(0);
  for (const auto& [item, text] : directory->json()) out.notes[item] = text;
  for (const std::string& item : directory->trees()) {
    auto tree = directory->tree(item);
    if (!tree) return tree.status();
    Tensors& part = out.parts[item];
    ordered_json texts = ordered_json::object();
    std::vector<const Leaf*> arrays;
    for (const Leaf& leaf : tree->leaves()) {
      if (leaf.kind == Kind::string) texts[leaf.name()] = leaf.text;
      if (leaf.is_array()) arrays.push_back(&leaf);
    }
    auto values = tree->read(arrays);
    if (!values) return values.status();
    const std::vector<std::string> called = names_of(arrays);
    for (std::size_t i = 0; i < arrays.size(); ++i)
      if (!part.emplace(called[i], std::move((*values)[i])).second)
        return Status(Code::corrupt, "{}/{}: two leaves are called '{}'", *folder, item, called[i]);
    if (!texts.empty())
      out.notes[item + kTexts] = texts.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }
  return out;
}

std::vector<Status> verify(const std::string& path) {
  auto directory = Directory::open(path);
  if (!directory) return {directory.status()};
  std::vector<Status> wrong;
  for (const std::string& item : directory->trees()) {
    auto tree = directory->tree(item);
    if (!tree) {
      wrong.push_back(tree.status());
      continue;
    }
    for (const Leaf& leaf : tree->leaves()) {
      if (!leaf.is_array()) continue;
      auto value = tree->read(leaf);
      if (!value) wrong.push_back(value.status());
    }
    const std::string where = directory->in_folder() ? path : path + "/" + item;
    if (const auto entries = tree->leaves_with_entries(); !entries)
      wrong.push_back(entries.status());
    const auto strays = tree->strays();
    if (!strays) wrong.push_back(strays.status());
    for (const std::string& name : strays ? *strays : std::vector<std::string>())
      wrong.push_back(Status(Code::corrupt,
                             "{}/_METADATA: lacks a leaf of which there is an array, '{}'", where,
                             name));
  }
  for (const auto& [item, text] : directory->json())
    if (!ordered_json::accept(text))
      wrong.push_back(Status(Code::corrupt, "{}/{}: is no JSON", path, item));
  return wrong;
}

Contents contents_of(const Checkpoint& checkpoint) {
  Contents out;
  for (const auto& [part, tensors] : checkpoint.parts) {
    std::vector<Leaf>& leaves = out.items[part];
    for (const auto& [name, tensor] : tensors) {
      Leaf leaf;
      leaf.kind = Kind::numpy_array;  // no devices are known, which Orbax asks of others
      leaf.path = path_of(name);
      leaf.value = tensor;
      leaves.push_back(std::move(leaf));
    }
  }
  for (const auto& [note, text] : checkpoint.notes)
    if (!add_texts(out.items, note, text))
      out.json[out.items.count(note) ? note + ".note" : note] = text;
  return out;
}

}  // namespace strata::checkpoint::orbax
