#include "strata/compile/llvm/code_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "strata/base/file.h"
#include "strata/compile/llvm/fingerprint.h"

namespace strata::compile {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "strata code 2\n";

std::string number(std::uint64_t n) {
  return std::string(reinterpret_cast<const char*>(&n), sizeof n);
}

/// Magic, sizes of key and object, both, and the digest of all that.
std::string pack(std::string_view key, std::string_view object) {
  std::string all(kMagic);
  all += number(key.size());
  all += number(object.size());
  all += key;
  all += object;
  return all + digest(all);
}

std::optional<std::string> unpack(std::string_view key, const std::string& all) {
  std::size_t head = kMagic.size() + 16, tail = 32;
  if (all.size() < head + key.size() + tail) return std::nullopt;
  std::size_t object = all.size() - head - key.size() - tail;
  std::string_view text = all;
  std::string expected =
      std::string(kMagic) + number(key.size()) + number(object) + std::string(key);
  if (text.substr(0, expected.size()) != expected) return std::nullopt;
  if (text.substr(text.size() - tail) != digest(text.substr(0, text.size() - tail)))
    return std::nullopt;
  return std::string(text.substr(expected.size(), object));
}

std::string standard_folder() {
  if (const char* folder = std::getenv("STRATA_CACHE_DIR")) return folder;
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::string(home) + "/.cache/strata";
  return "";
}

bool write_file(const std::string& path, std::string_view bytes) {
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return false;
  std::size_t done = 0;
  while (done < bytes.size()) {
    ssize_t n = ::write(file, bytes.data() + done, bytes.size() - done);
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  return close(file) == 0 && done == bytes.size();
}

}  // namespace

CodeCache::CodeCache(std::string folder, std::int64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes) {}

CodeCache& CodeCache::standard() {
  static CodeCache& cache = *new CodeCache(standard_folder());
  return cache;
}

std::string CodeCache::path(std::string_view key) const {
  std::string name = digest(key);
  return folder_ + "/code/" + name.substr(0, 2) + "/" + name.substr(2) + ".o";
}

std::optional<std::string> CodeCache::read(std::string_view key) const {
  if (folder_.empty()) return std::nullopt;
  std::string name = path(key);
  Result<std::string> all = read_file(name);
  if (!all) return std::nullopt;
  std::optional<std::string> object = unpack(key, *all);
  if (object) utimensat(AT_FDCWD, name.c_str(), nullptr, 0);  // used now: `shrink` uses age
  return object;
}

void CodeCache::write(std::string_view key, std::string_view object) {
  if (folder_.empty()) return;
  static std::atomic<unsigned> counter{0};
  unsigned turn = counter++;
  std::string name = path(key),
              aside = name + "." + std::to_string(getpid()) + "." + std::to_string(turn);
  std::error_code ignored;
  fs::create_directories(fs::path(name).parent_path(), ignored);
  if (!write_file(aside, pack(key, object)) || ::rename(aside.c_str(), name.c_str()) != 0)
    ::unlink(aside.c_str());
  // One write in 256 looks through all files, which takes a second where they are many: by turns in
  // a long process, and in short ones, which would pay for it with their first, by the key.
  if (turn % 256 == 255 || digest(key).starts_with("00")) shrink();
}

void CodeCache::shrink() {
  struct Entry {
    fs::file_time_type used;
    std::string path;
    std::int64_t bytes;
  };
  std::vector<Entry> entries;
  std::int64_t total = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder_ + "/code", error), end; !error && it != end;
       it.increment(error)) {
    std::error_code gone;
    if (!it->is_regular_file(gone) || gone) continue;
    auto bytes = static_cast<std::int64_t>(it->file_size(gone));
    auto used = it->last_write_time(gone);
    if (gone) continue;
    entries.push_back({used, it->path().string(), bytes});
    total += bytes;
  }
  if (total <= max_bytes_) return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& e : entries) {
    if (total <= max_bytes_ / 4 * 3) return;
    ::unlink(e.path.c_str());
    total -= e.bytes;
  }
}

}  // namespace strata::compile
