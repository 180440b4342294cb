#include "strata/base/object_store/object_files.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "strata/base/object_store/object_store.h"

namespace strata {
namespace {

/// The prefix of the keys of a folder: its path with a final "/", or nothing for the whole bucket.
std::string folder_prefix(const std::string& key) {
  return key.empty() || key.ends_with('/') ? key : key + "/";
}

}  // namespace

Result<std::string> read_object(const std::string& path) {
  Result<ObjectPath> at = find_object(path);
  if (!at) return at.status();
  return at->store->read(at->key, {});
}

Status write_object(const std::string& path, std::span<const std::string_view> pieces) {
  Result<ObjectPath> at = find_object(path);
  if (!at) return at.status();
  if (pieces.size() == 1) return at->store->write(at->key, pieces[0], std::nullopt).status();
  Result<std::unique_ptr<ObjectUpload>> upload = at->store->upload(at->key);
  if (!upload) return upload.status();
  for (std::string_view piece : pieces)
    if (Status s = (*upload)->write(piece); !s.ok()) return s;
  return (*upload)->commit().status();
}

Status remove_objects(const std::string& path) {
  Result<ObjectPath> at = find_object(path);
  if (!at) return at.status();
  if (at->key.empty())
    return Status(Code::denied, "{}: is a whole bucket, which is not removed", path);
  if (Status s = at->store->remove(at->key); !s.ok()) return s;
  Result<ObjectListing> below = at->store->list(folder_prefix(at->key), true);
  if (!below) return below.status();
  for (const ObjectInfo& object : below->objects)
    if (Status s = at->store->remove(object.key); !s.ok()) return s;
  return {};
}

Result<std::vector<std::string>> list_objects(const std::string& path) {
  Result<ObjectPath> at = find_object(path);
  if (!at) return at.status();
  const std::string prefix = folder_prefix(at->key);
  Result<ObjectListing> found = at->store->list(prefix, false);
  if (!found) return found.status();
  std::vector<std::string> out;
  for (const ObjectInfo& object : found->objects)
    if (object.key.size() > prefix.size()) out.push_back(object.key.substr(prefix.size()));
  for (const std::string& folder : found->folders)
    out.push_back(folder.substr(prefix.size(), folder.size() - prefix.size() - 1));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  if (out.empty() && found->objects.empty() && !at->key.empty())
    return Status(Code::not_found, "{}: cannot list: nothing lies there", path);
  return out;
}

Result<bool> object_exists(const std::string& path) {
  Result<ObjectPath> at = find_object(path);
  if (!at) return at.status();
  if (at->key.empty()) return true;
  if (!at->key.ends_with('/')) {
    const Result<ObjectInfo> object = at->store->stat(at->key);
    if (object) return true;
    if (object.status().code() != Code::not_found) return object.status();
  }
  Result<ObjectListing> below = at->store->list(folder_prefix(at->key), false);
  if (!below) return below.status();
  return !(below->objects.empty() && below->folders.empty());
}

}  // namespace strata
