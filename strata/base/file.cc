#include "strata/base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "strata/base/file_faults.h"
#include "strata/base/io_status.h"
#include "strata/base/keep_owner.h"
#include "strata/base/object_store/object_files.h"
#include "strata/base/object_store/object_store.h"
#include "strata/base/presence.h"

namespace strata {
namespace {

std::function<void(const char*)>& hook() {
  static std::function<void(const char*)> f;
  return f;
}
std::function<int(const char*)>& fault() {
  static std::function<int(const char*)> f;
  return f;
}
/// Whether an operation may go on; else `errno` says why not.
bool before(const char* what) {
  if (hook()) hook()(what);
  const int error = fault() ? fault()(what) : 0;
  if (error != 0) errno = error;
  return error == 0;
}

Status failed(const std::error_code& error, const std::string& path, const char* what) {
  return io_status(error.value(), path, what);
}

Status failed(const std::string& path, const char* what) {
  return failed(std::error_code(errno, std::generic_category()), path, what);
}

struct Descriptor {
  explicit Descriptor(int fd) : fd(fd) {}
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  int fd;
};

/// Writes of at least so many bytes begin their way to the disk at once.
constexpr ssize_t kWriteback = ssize_t{1} << 20;

Status write_all(int fd, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    if (!before("write")) {
      const Status status = failed(path, "write");
      if (::write(fd, bytes.data(), bytes.size() / 2) < 0) return status;  // a torn one
      return status;
    }
    ssize_t n =
        ::write(fd, bytes.data(), std::min<std::size_t>(bytes.size(), std::size_t{8} << 20));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(path, "write");
    bytes.remove_prefix(static_cast<std::size_t>(n));
    // The disk begins at once: a sync at the end then finds less to do.
    if (n >= kWriteback) (void)::sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
  }
  return {};
}

Status not_in_a_bucket(const std::string& path, const char* what) {
  return Status(Code::unsupported, "{}: object stores cannot {}", path, what);
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  if (is_object_path(path)) return read_object(path);
  Descriptor d(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (d.fd < 0) return failed(path, "open");
  struct stat info;
  if (::fstat(d.fd, &info) != 0) return failed(path, "read");
  if (S_ISDIR(info.st_mode)) return Status(Code::invalid, "{}: is a folder, not a file", path);
  std::string out;
  out.resize(S_ISREG(info.st_mode) ? static_cast<std::size_t>(info.st_size) : 0);
  std::size_t have = 0;
  for (;;) {
    if (have == out.size()) out.resize(out.size() + 65536);
    ssize_t n = ::read(d.fd, out.data() + have, out.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(path, "read");
    if (n == 0) break;
    have += static_cast<std::size_t>(n);
  }
  out.resize(have);
  return out;
}

Status write_file_synced(const std::string& path, std::string_view bytes) {
  return write_file_synced(path, std::span(&bytes, 1));
}

Status write_file_synced(const std::string& path, std::span<const std::string_view> pieces) {
  if (is_object_path(path)) return write_object(path, pieces);
  Descriptor d(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (d.fd < 0) return failed(path, "create");
  Status status;
  for (std::string_view piece : pieces)
    if (status.ok()) status = write_all(d.fd, path, piece);
  if (status.ok()) {
    if (!before("sync") || ::fsync(d.fd) != 0) status = failed(path, "sync");
  }
  if (!status.ok()) ::unlink(path.c_str());
  return status;
}

Status rename_synced(const std::string& from, const std::string& to) {
  if (is_object_path(from) || is_object_path(to)) return not_in_a_bucket(to, "rename");
  if (!before("rename") || ::rename(from.c_str(), to.c_str()) != 0) return failed(to, "rename");
  return sync_folder(std::filesystem::path(to).parent_path().string());
}

Status exchange_synced(const std::string& from, const std::string& to) {
  if (!file_exists(to)) return rename_synced(from, to);
  if (!before("rename")) return failed(to, "rename");
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0)
    return sync_folder(std::filesystem::path(to).parent_path().string());
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return failed(to, "rename");
  // Not every file system can exchange: then the old one is away for a moment.
  const std::string away = from + ".old.tmp";
  if (Status s = remove_all(away); !s.ok()) return s;
  if (Status s = rename_synced(to, away); !s.ok()) return s;
  if (Status s = rename_synced(from, to); !s.ok()) {
    if (!file_exists(to)) (void)rename_synced(away, to);  // the first failure is the one to report
    return s;
  }
  return rename_synced(away, from);
}

namespace {

/// The number of the descriptor that a name stands for ("/proc/self/fd/1"); -1 for other names.
int descriptor_named(std::string_view path) {
  for (std::string_view folder : {"/proc/self/fd/", "/dev/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const std::string_view number = path.substr(folder.size());
    int out = -1;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), out);
    if (error == std::errc() && end == number.data() + number.size()) return out;
  }
  return -1;
}

/// The name that is no link at the end of a chain of links, which nothing need have yet; or the
/// first that stands for a descriptor. Nothing for a chain without an end.
std::optional<std::string> follow(const std::string& path) {
  constexpr int kMostLinks = 40;
  std::filesystem::path at = path;
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code error;
    if (descriptor_named(at.native()) >= 0) return at.string();
    const std::filesystem::path target = std::filesystem::read_symlink(at, error);
    if (error) return at.string();
    at = at.parent_path() / target;
  }
  return std::nullopt;
}

/// Writes to what a name stands for: a pipe, a device, a descriptor of this process.
Status write_through(const std::string& path, int descriptor, std::string_view bytes) {
  Descriptor d(descriptor >= 0 ? ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
                               : ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  if (d.fd < 0) return failed(path, "open");
  if (Status s = write_all(d.fd, path, bytes); !s.ok()) return s;
  const bool synced = (before("sync") && ::fsync(d.fd) == 0) || errno == EINVAL || errno == EROFS ||
                      errno == ENOTSUP;
  return synced ? Status() : failed(path, "sync");
}

}  // namespace

Status write_file_atomic(const std::string& path, std::string_view bytes) {
  if (is_object_path(path)) return write_object(path, std::span(&bytes, 1));
  struct stat there{};
  const bool exists = ::stat(path.c_str(), &there) == 0;
  const std::optional<std::string> end = follow(path);
  const int descriptor = end ? descriptor_named(*end) : -1;
  if (!end || descriptor >= 0 || (exists && !S_ISREG(there.st_mode)))
    return write_through(path, descriptor, bytes);
  const std::string beside = *end + ".tmp";
  if (Status s = write_file_synced(beside, bytes); !s.ok()) return s;
  keep_owner(*end, beside);
  return rename_synced(beside, *end);
}

void keep_owner(const std::string& of, const std::string& to) {
  struct stat there{};
  if (::stat(of.c_str(), &there) != 0) return;
  const bool owned = ::chown(to.c_str(), there.st_uid, there.st_gid) == 0;
  (void)::chmod(to.c_str(), there.st_mode & (owned ? 07777 : 0777));
}

Status remove_all(const std::string& path) {
  if (is_object_path(path)) return remove_objects(path);
  if (!before("remove")) return failed(path, "remove");
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) return failed(error, path, "remove");
  return {};
}

Result<std::vector<std::string>> list_folder(const std::string& path) {
  if (is_object_path(path)) return list_objects(path);
  std::error_code error;
  std::vector<std::string> out;
  std::filesystem::directory_iterator it(path, error);
  for (; !error && it != std::filesystem::directory_iterator(); it.increment(error))
    out.push_back(it->path().filename().string());
  if (error) return failed(error, path, "list");
  std::sort(out.begin(), out.end());
  return out;
}

Result<bool> is_there(const std::string& path) {
  if (is_object_path(path)) return object_exists(path);
  struct stat info;
  if (::stat(path.c_str(), &info) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return failed(path, "look for it");
}

bool file_exists(const std::string& path) {
  if (!is_object_path(path)) {
    struct stat info;
    return ::stat(path.c_str(), &info) == 0;
  }
  const Result<bool> there = object_exists(path);
  // A path that no store can have names nothing; a request that failed says nothing, and `value`
  // throws.
  const Code code = there.status().code();
  if (code == Code::unsupported || code == Code::invalid) return false;
  return there.value();
}

Result<LineWriter> LineWriter::open(const std::string& path) {
  if (is_object_path(path)) return not_in_a_bucket(path, "add to a file; write it on a disk");
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return failed(path, "open");
  return LineWriter(fd, path);
}

LineWriter::LineWriter(LineWriter&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

LineWriter& LineWriter::operator=(LineWriter&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  return *this;
}

LineWriter::~LineWriter() {
  if (fd_ >= 0) ::close(fd_);
}

Status LineWriter::add(std::string_view line) { return add_bytes(std::string(line) + "\n"); }

Status LineWriter::add_bytes(std::string_view bytes) { return write_all(fd_, path_, bytes); }

Status LineWriter::sync() {
  if (!before("sync") || ::fdatasync(fd_) != 0) return failed(path_, "sync");
  return {};
}

Result<FileLock> FileLock::take(const std::string& path) {
  if (is_object_path(path)) return not_in_a_bucket(path, "lock");
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return failed(path, "create");
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return FileLock(fd);
  const bool held = errno == EWOULDBLOCK;
  Status status = held ? Status(Code::exists, "{}: another process holds this lock", path)
                       : failed(path, "lock");
  ::close(fd);
  return status;
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

Status make_folders(const std::string& path) {
  if (is_object_path(path)) return find_object(path).status();  // a prefix needs no making
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<fs::path> made;
  for (fs::path at = path; !at.empty() && !file_exists(at.string()); at = at.parent_path())
    made.push_back(at);
  fs::create_directories(path, error);
  if (error) return failed(error, path, "create the folder");
  for (const fs::path& folder : made) {
    if (Status s = sync_folder(folder.parent_path().string()); !s.ok())
      return s;  // whose entry for it may not be on disk yet
  }
  return {};
}

Status sync_folder(const std::string& path) {
  if (is_object_path(path)) return find_object(path).status();
  Descriptor d(::open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (d.fd < 0) return failed(path, "open");
  if (!before("sync") || ::fsync(d.fd) != 0) return failed(path, "sync");
  return {};
}

namespace testing_hooks {
void set_before_io(std::function<void(const char*)> f) { hook() = std::move(f); }
void set_io_fault(std::function<int(const char*)> f) { fault() = std::move(f); }
}  // namespace testing_hooks

}  // namespace strata
