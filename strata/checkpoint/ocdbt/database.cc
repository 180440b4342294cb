#include "strata/checkpoint/ocdbt/database.h"

#include <fmt/format.h>

#include <algorithm>

namespace strata::checkpoint::ocdbt {
namespace {

constexpr std::uint64_t kMostNodeBytes = std::uint64_t{1} << 30;

/// Whether a subtree whose keys are in [first, last) may hold keys that begin with a prefix.
bool may_hold(const std::string& first, const std::string* last, const std::string& prefix) {
  if (first.compare(0, prefix.size(), prefix) > 0) return false;
  return !last || *last > prefix;
}

/// The newest numbered manifest.
Result<Manifest> numbered(const KeyValueReader& store, const std::string& folder) {
  const std::string prefix = folder + "manifest.";
  auto keys = store.list(prefix);
  if (!keys) return keys.status();
  constexpr std::size_t kDigits = 16;
  std::erase_if(*keys, [&](const std::string& key) {
    return key.size() != prefix.size() + kDigits ||
           key.find_first_not_of("0123456789abcdef", prefix.size()) != key.npos;
  });
  if (keys->empty())
    return Status(Code::corrupt, "{}: no numbered manifest is there", store.name_of(folder));
  auto bytes = store.read(keys->back());
  if (!bytes) return bytes.status();
  return decode_manifest(*bytes, store.name_of(keys->back()));
}

}  // namespace

Result<Database> Database::open(const KeyValueReader& store, const std::string& folder) {
  const std::string key = folder + "manifest.ocdbt";
  auto bytes = store.read(key);
  if (!bytes) return bytes.status();
  auto manifest = decode_manifest(*bytes, store.name_of(key));
  if (!manifest) return manifest.status();
  if (manifest->configuration.kind == 1 && manifest->versions.empty())
    manifest = numbered(store, folder);
  if (!manifest) return manifest.status();
  if (manifest->versions.empty())
    return Status(Code::corrupt, "{}: no version of the database", store.name_of(key));
  return Database(store, folder, std::move(*manifest));
}

std::string Database::name_of(const std::string& key) const {
  return store_->name_of(folder_) + "[" + key + "]";
}

Result<std::shared_ptr<const Node>> Database::node(const Place& place, std::uint8_t height) const {
  const std::string path = folder_ + place.file.path();
  const std::string id = fmt::format("{}:{}:{}", path, place.offset, place.length);
  {
    const std::scoped_lock lock(cache_->mutex);
    if (const auto found = cache_->nodes.find(id); found != cache_->nodes.end())
      return found->second;
  }
  if (place.length > kMostNodeBytes)
    return Status(Code::corrupt, "{}: a node of {} bytes", store_->name_of(path), place.length);
  auto bytes = store_->read(path, {place.offset, place.length});
  if (!bytes) {
    if (bytes.status().code() != Code::not_found) return bytes.status();
    return Status(Code::corrupt, "{}: a data file of the database is missing",
                  store_->name_of(path));
  }
  auto read = decode_node(*bytes, place.file.base, store_->name_of(path));
  if (!read) return read.status();
  if (read->height != height)
    return Status(Code::corrupt, "{}: a node of height {}, where {} is referred to",
                  store_->name_of(path), read->height, height);
  auto out = std::make_shared<const Node>(std::move(*read));
  const std::scoped_lock lock(cache_->mutex);
  return cache_->nodes.emplace(id, std::move(out)).first->second;
}

Result<Entry> Database::find(const std::string& key) const {
  const Status absent(Code::not_found, "{}: no such key", name_of(key));
  const Version& version = manifest_.versions.back();
  if (version.empty()) return absent;
  std::string_view rest = key;
  Place place = version.root;
  for (std::uint8_t height = version.height;; --height) {
    auto at = node(place, height);
    if (!at) return at.status();
    const std::vector<Entry>& all = (*at)->entries;
    auto it = std::upper_bound(all.begin(), all.end(), rest,
                               [](std::string_view k, const Entry& e) { return k < e.key; });
    if (it == all.begin()) return absent;
    --it;
    if (height == 0) {
      if (it->key != rest) return absent;
      return *it;
    }
    if (!rest.starts_with(std::string_view(it->key).substr(0, it->common_prefix))) return absent;
    rest.remove_prefix(it->common_prefix);
    place = it->place;
  }
}

Result<std::uint64_t> Database::size(const std::string& key) const {
  auto entry = find(key);
  if (!entry) return entry.status();
  return entry->inline_value ? std::uint64_t{entry->value.size()} : entry->place.length;
}

Result<std::pair<Entry, std::uint64_t>> Database::find(const std::string& key,
                                                       ByteRange range) const {
  auto entry = find(key);
  if (!entry) return entry.status();
  const std::uint64_t size = entry->inline_value ? entry->value.size() : entry->place.length;
  const std::uint64_t n = range.size.value_or(range.offset <= size ? size - range.offset : 0);
  if (range.offset > size || n > size - range.offset)
    return Status(Code::corrupt, "{}: has {} bytes, and {} from {} are wanted", name_of(key), size,
                  n, range.offset);
  if (!entry->inline_value && entry->place.offset > ~std::uint64_t{0} - size)
    return Status(Code::corrupt, "{}: lies behind the end of any file", name_of(key));
  return std::pair{std::move(*entry), n};
}

Status Database::whose_file(const std::string& path, const Status& read) const {
  if (read.code() != Code::not_found) return read;
  return Status(Code::corrupt, "{}: a data file of the database is missing", store_->name_of(path));
}

Result<std::string> Database::read(const std::string& key, ByteRange range) const {
  auto found = find(key, range);
  if (!found) return found.status();
  const auto& [entry, n] = *found;
  if (entry.inline_value) return entry.value.substr(range.offset, n);
  const std::string path = folder_ + entry.place.file.path();
  auto out = store_->read(path, {entry.place.offset + range.offset, n});
  if (!out) return whose_file(path, out.status());
  return out;
}

Status Database::read_to(const std::string& key, std::uint64_t offset, std::span<char> to) const {
  auto found = find(key, {offset, to.size()});
  if (!found) return found.status();
  const Entry& entry = found->first;
  if (entry.inline_value) {
    std::copy_n(entry.value.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
    return {};
  }
  const std::string path = folder_ + entry.place.file.path();
  const Status s = store_->read_to(path, entry.place.offset + offset, to);
  return s.ok() ? s : whose_file(path, s);
}

Status Database::collect(const Place& place, std::uint8_t height, const std::string& above,
                         const std::string& prefix, std::vector<Entry>& out,
                         Visited& visited) const {
  auto at = node(place, height);
  if (!at) return at.status();
  const std::vector<Entry>& all = (*at)->entries;
  // A node has one parent; nodes that share children could stand for any number of keys.
  if (!visited.emplace(place.file.path(), place.offset).second)
    return Status(Code::corrupt, "{}: a node has two parents", store_->name_of(folder_));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string key = above + all[i].key;
    if (height > 0) {
      const std::string next = i + 1 < all.size() ? above + all[i + 1].key : "";
      if (!may_hold(key, next.empty() ? nullptr : &next, prefix)) continue;
      if (Status s =
              collect(all[i].place, height - 1, above + all[i].key.substr(0, all[i].common_prefix),
                      prefix, out, visited);
          !s.ok())
        return s;
    } else if (key.starts_with(prefix)) {
      if (!out.empty() && out.back().key >= key)
        return Status(Code::corrupt, "{}: keys do not ascend", name_of(key));
      out.push_back(all[i]);
      out.back().key = key;
    }
  }
  return {};
}

Result<std::vector<Entry>> Database::entries() const {
  std::vector<Entry> out;
  const Version& version = manifest_.versions.back();
  if (version.empty()) return out;
  Visited visited;
  if (Status s = collect(version.root, version.height, "", "", out, visited); !s.ok()) return s;
  return out;
}

Result<std::vector<std::string>> Database::list(const std::string& prefix) const {
  std::vector<Entry> entries;
  const Version& version = manifest_.versions.back();
  std::vector<std::string> out;
  if (version.empty()) return out;
  Visited visited;
  if (Status s = collect(version.root, version.height, "", prefix, entries, visited); !s.ok())
    return s;
  for (Entry& e : entries) out.push_back(std::move(e.key));
  return out;
}

}  // namespace strata::checkpoint::ocdbt
