// Keys and values: the one door between checkpoints and where their bytes are.
//
//   FolderStore store("runs/first/400");
//   auto bytes = store.read("state/manifest.ocdbt");                  // the whole value
//   auto piece = store.read("state/d/0a1b", {.offset = 4096, .size = 100});
//   for (const std::string& key : *store.list("state/")) ...
//
// A folder, a bucket, a database within a folder and memory are stores. Keys are relative paths
// with `/`.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.h"

namespace strata::checkpoint {

/// A part of a value: `size` bytes from `offset`, or all from there.
struct ByteRange {
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> size;
};

/// Values by key, to be read.
class KeyValueReader {
 public:
  virtual ~KeyValueReader() = default;
  /// The keys that begin with a prefix, sorted.
  virtual Result<std::vector<std::string>> list(const std::string& prefix) const = 0;
  /// The bytes of a value. Code::not_found where there is no such key, Code::corrupt where the
  /// range ends behind the value's end.
  virtual Result<std::string> read(const std::string& key, ByteRange range = {}) const = 0;
  /// Reads a value's bytes from `offset` on to where they are wanted, as many as go there. Codes of
  /// `read`.
  virtual Status read_to(const std::string& key, std::uint64_t offset, std::span<char> to) const;
  /// The size of a value in bytes. Codes of `read`.
  virtual Result<std::uint64_t> size(const std::string& key) const = 0;
  /// What messages call a key.
  virtual std::string name_of(const std::string& key) const = 0;
};

/// Values by key, to be read and written: of different keys by several threads at once.
class KeyValueStore : public KeyValueReader {
 public:
  /// Writes a value that is durable when this returns. Readers see the old one or the new one.
  virtual Status write(const std::string& key, std::span<const std::string_view> pieces) = 0;
  /// The same of bytes in one place.
  Status write(const std::string& key, std::string_view bytes) {
    return write(key, std::span(&bytes, 1));
  }
  /// Removes a key, and all keys below it as a folder; none there is no failure.
  virtual Status remove(const std::string& key) = 0;
};

/// The files below a folder, or the objects below a prefix: "runs/first", "gs://bucket/runs/first".
class FolderStore : public KeyValueStore {
 public:
  using KeyValueStore::write;
  explicit FolderStore(std::string folder) : folder_(std::move(folder)) {}
  /// A folder that no reader knows before it gets another name: values are written in place, and
  /// `sync` makes the names durable.
  static FolderStore unnamed(std::string folder) { return FolderStore(std::move(folder), true); }
  /// Syncs the folders of what was written in place.
  Status sync();
  Result<std::vector<std::string>> list(const std::string& prefix) const override;
  Result<std::string> read(const std::string& key, ByteRange range = {}) const override;
  Status read_to(const std::string& key, std::uint64_t offset, std::span<char> to) const override;
  Result<std::uint64_t> size(const std::string& key) const override;
  Status write(const std::string& key, std::span<const std::string_view> pieces) override;
  Status remove(const std::string& key) override;
  std::string name_of(const std::string& key) const override { return folder_ + "/" + key; }

 private:
  FolderStore(std::string folder, bool in_place)
      : folder_(std::move(folder)), in_place_(in_place) {}
  /// Makes a folder that is not known to be there, and notes that its names are to be synced.
  Status make(const std::string& folder);
  std::string folder_;
  bool in_place_ = false;
  std::mutex mutex_;  // of dirty_
  std::set<std::string> dirty_;
};

/// Values in memory.
class MemoryStore : public KeyValueStore {
 public:
  using KeyValueStore::write;
  Result<std::vector<std::string>> list(const std::string& prefix) const override;
  Result<std::string> read(const std::string& key, ByteRange range = {}) const override;
  Result<std::uint64_t> size(const std::string& key) const override;
  Status write(const std::string& key, std::span<const std::string_view> pieces) override;
  Status remove(const std::string& key) override;
  std::string name_of(const std::string& key) const override { return key; }
  /// All values, to be changed by tests.
  std::map<std::string, std::string>& values() { return values_; }

 private:
  std::mutex mutex_;  // of writes
  std::map<std::string, std::string> values_;
};

/// The keys below a prefix of another store, under what is left of their names.
class Below : public KeyValueReader {
 public:
  /// `prefix` ends with `/`, or is empty. `store` outlives this.
  Below(const KeyValueReader& store, std::string prefix)
      : store_(store), prefix_(std::move(prefix)) {}
  Result<std::vector<std::string>> list(const std::string& prefix) const override;
  Result<std::string> read(const std::string& key, ByteRange range = {}) const override {
    return store_.read(prefix_ + key, range);
  }
  Status read_to(const std::string& key, std::uint64_t offset, std::span<char> to) const override {
    return store_.read_to(prefix_ + key, offset, to);
  }
  Result<std::uint64_t> size(const std::string& key) const override {
    return store_.size(prefix_ + key);
  }
  std::string name_of(const std::string& key) const override {
    return store_.name_of(prefix_ + key);
  }

 private:
  const KeyValueReader& store_;
  std::string prefix_;
};

/// Whether a key is a relative path that stays below its store: no empty, `.` or `..` part.
bool is_plain_key(std::string_view key);

}  // namespace strata::checkpoint
