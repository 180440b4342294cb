#include "strata/checkpoint/read_tensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "strata/base/checksum.h"
#include "strata/base/file.h"
#include "strata/base/io_status.h"
#include "strata/base/large_file.h"
#include "strata/base/object_store/object_store.h"
#include "strata/checkpoint/safetensors_rules.h"

namespace strata::checkpoint {
namespace {

class Open {
 public:
  explicit Open(const std::string& path)
      : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Open() {
    if (fd_ >= 0) ::close(fd_);
  }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;

  bool ok() const { return fd_ >= 0; }
  Result<std::uint64_t> size() const {
    struct stat info;
    if (::fstat(fd_, &info) != 0) return io_status(errno, path_, "read");
    if (S_ISDIR(info.st_mode)) return Status(Code::invalid, "{}: is a folder, not a file", path_);
    return static_cast<std::uint64_t>(info.st_size);
  }
  Status read(char* to, std::uint64_t bytes, std::uint64_t offset) const {
    while (bytes > 0) {
      const ssize_t n = ::pread(fd_, to, bytes, static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return io_status(errno, path_, "read");
      if (n == 0) return Status(Code::corrupt, "{}: was cut while it was read", path_);
      to += n, offset += static_cast<std::uint64_t>(n), bytes -= static_cast<std::uint64_t>(n);
    }
    return {};
  }

 private:
  const std::string& path_;
  int fd_;
};

Result<ReadTensors> read_object(const std::string& path, std::uint64_t size) {
  const auto bytes = read_file(path);
  if (!bytes) return bytes.status();
  ReadTensors out{.size = bytes->size(), .crc32c = 0, .file = {}};
  if (out.size != size) return out;
  out.crc32c = crc32c(*bytes);
  auto file = decode_safetensors(*bytes, path);
  if (!file) return file.status();
  out.file = std::move(*file);
  return out;
}

/// The bytes ahead of the tensors, as far as the file has them.
Result<std::string> read_header(const Open& file, std::uint64_t size) {
  std::string out(std::min<std::uint64_t>(size, 8), '\0');
  if (Status s = file.read(out.data(), out.size(), 0); !s.ok()) return s;
  std::uint64_t length = 0;
  if (out.size() == 8) std::memcpy(&length, out.data(), 8);
  // What is longer than the format allows is refused without being read.
  if (length > kMostHeader || length > size - out.size()) return out;
  out.resize(out.size() + length);
  if (Status s = file.read(out.data() + 8, length, 8); !s.ok()) return s;
  return out;
}

}  // namespace

Result<ReadTensors> read_tensors(const std::string& path, std::uint64_t size) {
  if (is_object_path(path)) return read_object(path, size);
  const Open file(path);
  if (!file.ok()) return io_status(errno, path, "open");
  const auto has = file.size();
  if (!has) return has.status();
  ReadTensors out{.size = *has, .crc32c = 0, .file = {}};
  if (out.size != size) return out;
  const auto header = read_header(file, size);
  if (!header) return header.status();
  out.crc32c = crc32c(*header);
  // Only the header's pages are looked at: those of tensors would end the process on a bad disk.
  const auto mapped = MappedFile::open(path);
  if (!mapped) return mapped.status();
  const std::string_view bytes = (*mapped)->bytes();
  const auto places = index_safetensors(bytes, path);
  if (!places) return places.status();
  out.file.metadata = places->metadata;
  std::vector<std::pair<std::uint64_t, const std::string*>> order;
  for (const auto& [name, at] : places->tensors)
    order.emplace_back(static_cast<std::uint64_t>(at.bytes.data() - bytes.data()), &name);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [offset, name] : order) {
    Literal value(places->tensors.at(*name).type);
    char* const data = reinterpret_cast<char*>(value.mutable_data());
    if (Status s = file.read(data, value.bytes(), offset); !s.ok()) return s;
    out.crc32c = crc32c({data, value.bytes()}, out.crc32c);
    if (Status s = check_booleans(*name, value, path); !s.ok()) return s;
    out.file.tensors.emplace(*name, std::move(value));
  }
  return out;
}

}  // namespace strata::checkpoint
