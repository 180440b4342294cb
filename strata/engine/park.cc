#include "strata/engine/park.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "strata/base/error.h"
#include "strata/base/file.h"

namespace strata::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".kv";

std::int64_t size_of(const Parked& parked) {
  auto out = static_cast<std::int64_t>(parked.tokens.size() * sizeof(std::int32_t));
  for (const Literal& x : parked.contents) out += static_cast<std::int64_t>(x.bytes());
  return out;
}

std::string hex64(std::uint64_t value) { return fmt::format("{:016x}", value); }

/// FNV-1a; names that have the same are told apart by the header.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325ull;
  for (const char c : text) h = (h ^ static_cast<std::uint8_t>(c)) * 0x100000001b3ull;
  return h;
}

}  // namespace

Conversations::Conversations(Engine& engine, Limits limits)
    : engine_(engine), limits_(std::move(limits)) {
  if (limits_.memory < 0 || limits_.disk < 0)
    throw Error("park", "limits of memory={} and disk={} must not be negative", limits_.memory,
                limits_.disk);
  if (limits_.folder.empty()) return;
  // Files of an earlier run, the oldest first.
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(limits_.folder, error)) {
    if (entry.path().extension() != kEnding || !entry.is_regular_file(error)) continue;
    found.emplace_back(entry.last_write_time(error), entry.path().string());
  }
  std::sort(found.begin(), found.end());
  for (const auto& [time, path] : found) {
    const auto size = static_cast<std::int64_t>(fs::file_size(path, error));
    files_[path] = {error ? 0 : size, ++clock_};
    disk_ += files_[path].bytes;
  }
}

std::string Conversations::file_of(const std::string& name) const {
  return limits_.folder + "/" + hex64(hash_of(name)) + std::string(kEnding);
}

void Conversations::forget_copy(const std::string& name) {
  const auto it = kept_.find(name);
  if (it == kept_.end()) return;
  memory_ -= size_of(it->second.parked);
  order_.erase(it->second.place);
  kept_.erase(it);
}

Status Conversations::remove_file(const std::string& file) {
  const auto it = files_.find(file);
  if (it == files_.end()) return {};
  disk_ -= it->second.bytes;
  files_.erase(it);
  return remove_all(file);
}

Status Conversations::write(const std::string& name, const Parked& parked) {
  if (Status s = make_folders(limits_.folder); !s.ok()) return s;
  const std::string file = file_of(name), bytes = encode(parked, name);
  if (Status s = remove_file(file); !s.ok()) return s;
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (size > limits_.disk) return {};  // there is no room for it at all
  while (disk_ + size > limits_.disk) {
    const auto oldest = std::min_element(
        files_.begin(), files_.end(),
        [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    if (Status s = remove_file(oldest->first); !s.ok()) return s;
  }
  if (Status s = write_file_atomic(file, bytes); !s.ok()) return s;
  files_[file] = {size, ++clock_};
  disk_ += size;
  return {};
}

/// Moves the longest unused ones out of memory.
Status Conversations::make_room() {
  while (memory_ > limits_.memory && !order_.empty()) {
    const std::string name = order_.front();
    const Kept& kept = kept_.at(name);
    if (!limits_.folder.empty() && !kept.on_disk)
      if (Status s = write(name, kept.parked); !s.ok()) return s;
    forget_copy(name);
  }
  return {};
}

Status Conversations::park(const std::string& name, std::span<const std::int32_t> tokens,
                           std::string_view salt) {
  if (name.size() > kMostParkedName)
    throw Error("park", "the name has {} bytes, more than {}", name.size(), kMostParkedName);
  std::optional<Parked> parked = engine_.park(tokens, salt);
  if (Status s = forget(name); !s.ok() || !parked) return s;
  memory_ += size_of(*parked);
  kept_[name] = {std::move(*parked), order_.insert(order_.end(), name)};
  return make_room();
}

Result<std::int64_t> Conversations::resume(const std::string& name) {
  if (const auto it = kept_.find(name); it != kept_.end()) {
    order_.splice(order_.end(), order_, it->second.place);
    if (it->second.parked.identity != engine_.identity()) return std::int64_t{0};
    return engine_.resume(it->second.parked);
  }
  const std::string file = file_of(name);
  const auto known = files_.find(file);
  if (limits_.folder.empty() || known == files_.end()) return std::int64_t{0};
  auto bytes = read_file(file);
  if (!bytes) return bytes.status();
  auto read = decode(*bytes, file);
  if (!read) {
    if (Status s = remove_file(file); !s.ok()) return s;
    return read.status();
  }
  if (read->name != name || read->parked.identity != engine_.identity()) return std::int64_t{0};
  std::int64_t found = 0;
  try {
    found = engine_.resume(read->parked);
  } catch (const Error& e) {
    if (Status s = remove_file(file); !s.ok()) return s;
    return Status(Code::corrupt, "{}: {}", file, e.what());
  }
  known->second.used = ++clock_;
  memory_ += size_of(read->parked);
  kept_[name] = {std::move(read->parked), order_.insert(order_.end(), name), true};
  if (Status s = make_room(); !s.ok()) return s;
  return found;
}

Status Conversations::forget(const std::string& name) {
  forget_copy(name);
  return limits_.folder.empty() ? Status() : remove_file(file_of(name));
}

Status Conversations::flush() {
  if (limits_.folder.empty()) return {};
  for (const std::string& name : order_) {
    Kept& kept = kept_.at(name);
    if (kept.on_disk) continue;
    if (Status s = write(name, kept.parked); !s.ok()) return s;
    kept.on_disk = files_.count(file_of(name)) > 0;
  }
  return {};
}

}  // namespace strata::engine
