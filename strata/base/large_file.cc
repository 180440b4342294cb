#include "strata/base/large_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "strata/base/file.h"
#include "strata/base/io_status.h"
#include "strata/base/nameless_file.h"
#include "strata/base/object_store/object_store.h"

namespace strata {
namespace {

Status failed(const std::string& path, const char* what) { return io_status(errno, path, what); }

Status fetch_object(const std::string& path, int fd) {
  Result<ObjectPath> at = find_object(path);
  if (!at) return at.status();
  Result<ObjectInfo> info = at->store->stat(at->key);
  if (!info) return info.status();
  constexpr std::uint64_t kPiece = std::uint64_t{16} << 20;
  for (std::uint64_t offset = 0; offset < info->size; offset += kPiece) {
    Result<std::string> piece = at->store->read(at->key, {offset, kPiece, info->generation});
    if (!piece) return piece.status();
    for (std::string_view left = *piece; !left.empty();) {
      const ssize_t n = ::write(fd, left.data(), left.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return failed(path, "keep a copy on disk");
      left.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  return {};
}

/// A file without a name that holds an object's bytes.
Result<int> copy_of_object(const std::string& path) {
  Result<int> fd = nameless_file();
  if (!fd) return fd.status();
  Status s = fetch_object(path, *fd);
  if (s.ok()) return fd;
  ::close(*fd);
  return s;
}

Result<int> open_to_map(const std::string& path) {
  if (is_object_path(path)) return copy_of_object(path);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failed(path, "open");
  return fd;
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  Result<int> opened = open_to_map(path);
  if (!opened) return opened.status();
  const int fd = *opened;
  struct stat info;
  Status status;
  void* at = nullptr;
  std::size_t size = 0;
  if (::fstat(fd, &info) != 0) {
    status = failed(path, "read");
  } else if (S_ISDIR(info.st_mode)) {
    status = Status(Code::invalid, "{}: is a folder, not a file", path);
  } else if (info.st_size > 0) {
    size = static_cast<std::size_t>(info.st_size);
    at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED) status = failed(path, "map");
  }
  ::close(fd);
  if (!status.ok()) return status;
  return std::shared_ptr<const MappedFile>(new MappedFile(at, size));
}

MappedFile::~MappedFile() {
  if (at_) ::munmap(at_, size_);
}

void MappedFile::release(std::string_view part) const {
  constexpr std::size_t kPage = 4096;
  // Whole pages inside of the part: its neighbours' stay.
  const auto begin = static_cast<std::size_t>(part.data() - static_cast<const char*>(at_));
  const std::size_t first = (begin + kPage - 1) / kPage * kPage;
  const std::size_t last = (begin + part.size()) / kPage * kPage;
  if (first < last) ::madvise(static_cast<char*>(at_) + first, last - first, MADV_DONTNEED);
}

Result<FileWriter> FileWriter::create(const std::string& path) {
  if (is_object_path(path)) {
    Result<ObjectPath> at = find_object(path);
    if (!at) return at.status();
    Result<std::unique_ptr<ObjectUpload>> upload = at->store->upload(at->key);
    if (!upload) return upload.status();
    FileWriter out(-1, path);
    out.upload_ = std::move(*upload);
    return out;
  }
  const std::string aside = path + ".tmp";
  const int fd = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return failed(aside, "create");
  return FileWriter(fd, path);
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      written_(other.written_),
      upload_(std::move(other.upload_)) {}

FileWriter::~FileWriter() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(aside().c_str());
}

Status FileWriter::write(std::string_view bytes) {
  if (upload_) {
    Status s = upload_->write(bytes);
    if (s.ok()) written_ += bytes.size();
    return s;
  }
  while (!bytes.empty()) {
    const ssize_t n =
        ::write(fd_, bytes.data(), std::min<std::size_t>(bytes.size(), std::size_t{8} << 20));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(path_, "write");
    bytes.remove_prefix(static_cast<std::size_t>(n));
    written_ += static_cast<std::uint64_t>(n);
  }
  return {};
}

Status FileWriter::commit() {
  if (upload_) return std::exchange(upload_, nullptr)->commit().status();
  if (::fsync(fd_) != 0) return failed(path_, "sync");
  ::close(std::exchange(fd_, -1));
  return rename_synced(aside(), path_);
}

}  // namespace strata
