#include "strata/checkpoint/chunks.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <thread>

#include "strata/base/object_store/object_store.h"
#include "strata/base/presence.h"
#include "strata/checkpoint/checkpoint.h"
#include "strata/checkpoint/manifest.h"

namespace strata::checkpoint {
namespace {

constexpr const char* kFolder = "/chunks";
constexpr const char* kLock = "lock";

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

Result<std::uint64_t> size_of(const std::string& path) {
  if (is_object_path(path)) {
    auto at = find_object(path);
    if (!at) return at.status();
    auto info = at->store->stat(at->key);
    if (!info) return info.status();
    return info->size;
  }
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error) return Status(Code::not_found, "{}: {}", path, error.message());
  return size;
}

Status remove_unnamed(const std::string& root) {
  auto names = list_folder(root + kFolder);
  if (!names) return names.status().code() == Code::not_found ? Status() : names.status();
  auto named = named_below(root);
  if (!named) return named.status();
  if (!*named) return {};
  for (const std::string& name : *names) {
    if (name == kLock || (*named)->count(name)) continue;
    if (Status s = remove_all(root + kFolder + "/" + name); !s.ok()) return s;
  }
  return {};
}

}  // namespace

std::string chunk_name(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  STRATA_CHECK(
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1 &&
          size == 32,
      "libcrypto has SHA-256");
  std::string out;
  for (unsigned i = 0; i < size; ++i) out += fmt::format("{:02x}", digest[i]);
  return out;
}

bool is_chunk_name(std::string_view name) {
  return name.size() == 64 && name.find_first_not_of("0123456789abcdef") == name.npos;
}

std::string chunk_path(const std::string& root, const std::string& name) {
  return root + kFolder + "/" + name;
}

Status write_chunk(const std::string& root, const std::string& name, std::string_view bytes) {
  const std::string path = chunk_path(root, name);
  const auto size = size_of(path);
  if (size && *size == bytes.size()) return {};
  if (!size && size.status().code() != Code::not_found) return size.status();
  return write_file_atomic(path, bytes);
}

Result<ChunkLock> ChunkLock::wait(const std::string& root) {
  ChunkLock out;
  if (is_object_path(root)) return out;
  if (Status s = make_folders(root + kFolder); !s.ok()) return s;
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (;;) {
    auto lock = FileLock::take(root + kFolder + "/" + kLock);
    if (lock) {
      out.lock_ = std::move(*lock);
      return out;
    }
    if (lock.status().code() != Code::exists || std::chrono::steady_clock::now() >= end)
      return lock.status();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Status collect_chunks(const std::string& root) {
  if (is_object_path(root)) return remove_unnamed(root);
  const auto there = is_there(root + kFolder);
  if (!there) return there.status();
  if (!*there) return {};
  auto lock = FileLock::take(root + kFolder + "/" + kLock);
  if (!lock) return lock.status().code() == Code::exists ? Status() : lock.status();
  return remove_unnamed(root);
}

}  // namespace strata::checkpoint
