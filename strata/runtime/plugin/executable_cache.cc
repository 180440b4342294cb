#include "strata/runtime/plugin/executable_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "strata/base/checksum.h"
#include "strata/base/file.h"

namespace strata::runtime::plugin {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "strata executable 1\n";

std::string number(std::uint64_t n) {
  return std::string(reinterpret_cast<const char*>(&n), sizeof n);
}
/// Magic, sizes of key and executable, both, and the checksum of all that.
std::string packed(std::string_view key, std::string_view executable) {
  std::string out(kMagic);
  out += number(key.size()) + number(executable.size());
  out += key;
  out += executable;
  return out + number(crc32c(out));
}
std::optional<std::string> unpacked(std::string_view key, std::string_view all) {
  const std::size_t head = kMagic.size() + 16 + key.size(), tail = 8;
  if (all.size() < head + tail) return std::nullopt;
  const std::size_t size = all.size() - head - tail;
  std::string expected = std::string(kMagic) + number(key.size()) + number(size);
  expected += key;
  if (all.substr(0, head) != expected) return std::nullopt;
  if (all.substr(head + size) != number(crc32c(all.substr(0, head + size)))) return std::nullopt;
  return std::string(all.substr(head, size));
}
/// FNV-1a, from two beginnings: for names, not for trust.
std::uint64_t hash(std::string_view bytes, std::uint64_t begin) {
  for (unsigned char c : bytes) begin = (begin ^ c) * 0x100000001b3u;
  return begin;
}

}  // namespace

ExecutableCache::ExecutableCache(std::string folder, std::int64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes) {}

ExecutableCache ExecutableCache::standard() {
  if (const char* folder = std::getenv("STRATA_CACHE_DIR"))
    return ExecutableCache(*folder ? std::string(folder) + "/plugins" : "");
  const char* home = std::getenv("HOME");
  return ExecutableCache(home && *home ? std::string(home) + "/.cache/strata/plugins" : "");
}

std::string ExecutableCache::path(std::string_view key) const {
  if (folder_.empty()) return "";
  return fmt::format("{}/{:016x}{:016x}.pjrt", folder_, hash(key, 0xcbf29ce484222325u),
                     hash(key, 0x9ae16a3b2f90404fu));
}

std::optional<std::string> ExecutableCache::read(std::string_view key) const {
  if (folder_.empty()) return std::nullopt;
  auto all = read_file(path(key));
  if (!all) return std::nullopt;
  std::optional<std::string> out = unpacked(key, *all);
  if (!out) remove(key);
  return out;
}

void ExecutableCache::write(std::string_view key, std::string_view executable) const {
  if (folder_.empty() || !make_folders(folder_).ok()) return;
  const std::string name = path(key), aside = fmt::format("{}.{}", name, ::getpid());
  std::error_code ignored;
  if (!write_file_synced(aside, packed(key, executable)).ok() ||
      (fs::rename(aside, name, ignored), ignored))
    fs::remove(aside, ignored);
  shrink();
}

void ExecutableCache::remove(std::string_view key) const {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove(path(key), ignored);
}

void ExecutableCache::shrink() const {
  struct Entry {
    fs::file_time_type written;
    fs::path path;
    std::int64_t bytes;
  };
  std::vector<Entry> entries;
  std::int64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    const auto bytes = static_cast<std::int64_t>(it->file_size(gone));
    if (gone) continue;
    entries.push_back({it->last_write_time(gone), it->path(), bytes});
    total += bytes;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.written != b.written ? a.written < b.written : a.path < b.path;
  });
  for (std::size_t i = 0; i + 1 < entries.size() && total > max_bytes_; ++i) {
    std::error_code gone;
    if (fs::remove(entries[i].path, gone)) total -= entries[i].bytes;
  }
}

std::string plugin_identity(const std::string& library, const std::string& version,
                            const std::string& device_kind) {
  std::error_code error;
  const fs::path file = fs::canonical(library, error);
  const auto bytes = fs::file_size(file, error);
  const auto changed = fs::last_write_time(file, error);
  return fmt::format("{}\n{} {}\n{}\n{}\n", file.string(), bytes,
                     changed.time_since_epoch().count(), version, device_kind);
}

}  // namespace strata::runtime::plugin
