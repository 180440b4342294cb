#include "strata/checkpoint/store/key_value.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "strata/base/file.h"
#include "strata/base/object_store/object_store.h"
#include "strata/base/presence.h"

namespace strata::checkpoint {
namespace {

namespace fs = std::filesystem;

/// The part of a value's `size` bytes that a range means.
Result<std::pair<std::uint64_t, std::uint64_t>> clip(ByteRange range, std::uint64_t size,
                                                     const std::string& name) {
  const std::uint64_t n = range.size.value_or(range.offset <= size ? size - range.offset : 0);
  if (range.offset > size || n > size - range.offset)
    return Status(Code::corrupt, "{}: has {} bytes, and bytes {} to {} are wanted", name, size,
                  range.offset, range.offset + n);
  return std::pair{range.offset, n};
}

Status refuse(const std::string& key) {
  return Status(Code::corrupt, "'{}' names no file below its folder", key);
}

Status failed(const std::string& path) {
  const int e = errno;
  const Code code = e == ENOENT || e == ENOTDIR ? Code::not_found
                    : e == EACCES               ? Code::denied
                                                : Code::io;
  return Status(code, "{}: cannot read: {}", path, std::strerror(e));
}

class File {
 public:
  explicit File(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

bool is_plain_key(std::string_view key) {
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('/', begin), key.size());
    const std::string_view part = key.substr(begin, end - begin);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != part.npos) return false;
    begin = end + 1;
  }
  return true;
}

namespace {

/// The keys below a folder of a bucket that begin with a prefix.
Result<std::vector<std::string>> list_bucket(const std::string& folder, const std::string& prefix) {
  auto at = find_object(folder + "/");
  if (!at) return at.status();
  auto listing = at->store->list(at->key + prefix, true);
  if (!listing) return listing.status();
  std::vector<std::string> out;
  for (const ObjectInfo& object : listing->objects)
    out.push_back(object.key.substr(at->key.size()));
  return out;
}

/// A range of an object: one request where the range says its size.
Result<std::string> read_bucket(const std::string& path, ByteRange range) {
  auto at = find_object(path);
  if (!at) return at.status();
  if (!range.size && range.offset > 0) {
    auto info = at->store->stat(at->key);
    if (!info) return info.status();
    auto part = clip(range, info->size, path);
    if (!part) return part.status();
    range.size = part->second;
  }
  ObjectRange wanted{.offset = range.offset};
  if (range.size) wanted.length = *range.size;
  auto out = at->store->read(at->key, wanted);
  if (out && range.size && out->size() != *range.size)
    return Status(Code::corrupt, "{}: ends before byte {}", path, range.offset + *range.size);
  return out;
}

/// Reads a file from `offset` on, which has the bytes.
Status read_range(const std::string& path, std::uint64_t offset, std::span<char> to) {
  const File file(path);
  if (file.fd() < 0) return failed(path);
  for (std::size_t have = 0; have < to.size();) {
    const ssize_t n =
        ::pread(file.fd(), to.data() + have, to.size() - have, static_cast<off_t>(offset + have));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(path);
    if (n == 0) return Status(Code::corrupt, "{}: ends while it is read", path);
    have += static_cast<std::size_t>(n);
  }
  return {};
}

}  // namespace

Status KeyValueReader::read_to(const std::string& key, std::uint64_t offset,
                               std::span<char> to) const {
  auto bytes = read(key, {offset, to.size()});
  if (!bytes) return bytes.status();
  std::copy(bytes->begin(), bytes->end(), to.begin());
  return {};
}

Result<std::vector<std::string>> FolderStore::list(const std::string& prefix) const {
  if (is_object_path(folder_)) return list_bucket(folder_, prefix);
  std::vector<std::string> out;
  std::error_code error;
  const std::size_t slash = prefix.rfind('/');
  const std::string below = slash == prefix.npos ? "" : prefix.substr(0, slash + 1);
  if (!below.empty() && !is_plain_key(below.substr(0, slash))) return refuse(prefix);
  const std::string folder = below.empty() ? folder_ : folder_ + "/" + below;
  const auto there = is_there(folder);
  if (!there) return there.status();
  if (!*there) return out;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (!it->is_regular_file(error)) continue;
    std::string key = fs::path(it->path()).lexically_relative(folder_).generic_string();
    if (key.starts_with(prefix)) out.push_back(std::move(key));
  }
  if (error) return Status(Code::io, "{}: cannot list: {}", folder, error.message());
  std::sort(out.begin(), out.end());
  return out;
}

Result<std::uint64_t> FolderStore::size(const std::string& key) const {
  if (!is_plain_key(key)) return refuse(key);
  if (is_object_path(folder_)) {
    auto at = find_object(name_of(key));
    if (!at) return at.status();
    auto info = at->store->stat(at->key);
    if (!info) return info.status();
    return info->size;
  }
  struct stat info;
  if (::stat(name_of(key).c_str(), &info) != 0) return failed(name_of(key));
  if (!S_ISREG(info.st_mode)) return Status(Code::not_found, "{}: no file", name_of(key));
  return static_cast<std::uint64_t>(info.st_size);
}

Result<std::string> FolderStore::read(const std::string& key, ByteRange range) const {
  if (!is_plain_key(key)) return refuse(key);
  if (is_object_path(folder_)) return read_bucket(name_of(key), range);
  auto total = size(key);
  if (!total) return total.status();
  auto part = clip(range, *total, name_of(key));
  if (!part) return part.status();
  std::string out(part->second, '\0');
  if (Status s = read_range(name_of(key), part->first, out); !s.ok()) return s;
  return out;
}

Status FolderStore::read_to(const std::string& key, std::uint64_t offset,
                            std::span<char> to) const {
  if (!is_plain_key(key)) return refuse(key);
  if (is_object_path(folder_)) return KeyValueReader::read_to(key, offset, to);
  auto total = size(key);
  if (!total) return total.status();
  if (auto part = clip({offset, to.size()}, *total, name_of(key)); !part) return part.status();
  return read_range(name_of(key), offset, to);
}

Status FolderStore::write(const std::string& key, std::span<const std::string_view> pieces) {
  if (!is_plain_key(key)) return refuse(key);
  const std::string path = name_of(key), beside = path + ".tmp";
  if (is_object_path(path)) {  // one request, after which it is whole there
    if (pieces.size() == 1) return write_file_synced(path, pieces[0]);
    std::string all;
    for (std::string_view piece : pieces) all += piece;
    return write_file_synced(path, all);
  }
  if (Status s = make(fs::path(path).parent_path().string()); !s.ok()) return s;
  if (in_place_) return write_file_synced(path, pieces);
  if (Status s = write_file_synced(beside, pieces); !s.ok()) return s;
  return rename_synced(beside, path);
}

Status FolderStore::make(const std::string& folder) {
  const std::scoped_lock lock(mutex_);
  if (dirty_.count(folder) != 0) return {};
  Status s = make_folders(folder);
  if (s.ok() && in_place_) dirty_.insert(folder);
  return s;
}

Status FolderStore::sync() {
  const std::scoped_lock lock(mutex_);
  for (const std::string& folder : dirty_)
    if (Status s = sync_folder(folder); !s.ok()) return s;
  dirty_.clear();
  return {};
}

Status FolderStore::remove(const std::string& key) {
  if (!is_plain_key(key)) return refuse(key);
  return remove_all(name_of(key));
}

Result<std::vector<std::string>> MemoryStore::list(const std::string& prefix) const {
  std::vector<std::string> out;
  for (auto it = values_.lower_bound(prefix); it != values_.end() && it->first.starts_with(prefix);
       ++it)
    out.push_back(it->first);
  return out;
}

Result<std::uint64_t> MemoryStore::size(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return Status(Code::not_found, "{}: no such key", key);
  return std::uint64_t{found->second.size()};
}

Result<std::string> MemoryStore::read(const std::string& key, ByteRange range) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return Status(Code::not_found, "{}: no such key", key);
  auto part = clip(range, found->second.size(), key);
  if (!part) return part.status();
  return found->second.substr(part->first, part->second);
}

Status MemoryStore::write(const std::string& key, std::span<const std::string_view> pieces) {
  std::string all;
  for (std::string_view piece : pieces) all += piece;
  const std::scoped_lock lock(mutex_);
  values_[key] = std::move(all);
  return {};
}

Status MemoryStore::remove(const std::string& key) {
  std::erase_if(values_, [&](const auto& entry) {
    return entry.first == key || entry.first.starts_with(key + "/");
  });
  return {};
}

Result<std::vector<std::string>> Below::list(const std::string& prefix) const {
  auto keys = store_.list(prefix_ + prefix);
  if (!keys) return keys.status();
  for (std::string& key : *keys) key.erase(0, prefix_.size());
  return keys;
}

}  // namespace strata::checkpoint
