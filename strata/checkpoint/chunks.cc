#include "strata/checkpoint/chunks.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <thread>

#include "strata/base/object_store/object_store.h"

namespace strata::checkpoint {
namespace {

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
  return root + kChunkFolder + "/" + name;
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
  if (Status s = make_folders(root + kChunkFolder); !s.ok()) return s;
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (;;) {
    auto lock = FileLock::take(root + kChunkFolder + "/" + kChunkLock);
    if (lock) {
      out.lock_ = std::move(*lock);
      return out;
    }
    if (lock.status().code() != Code::exists || std::chrono::steady_clock::now() >= end)
      return lock.status();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace strata::checkpoint
