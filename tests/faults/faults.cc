// A disk that fails at a chosen moment, for any program: preload it, name the folder, choose the
// moment.
//
//   LD_PRELOAD=build/lib/libstrata_faults.so FAULTS_UNDER=/tmp/run FAULTS_AT=7 FAULTS_DO=kill
//   strata train ...
//
// FAULTS_UNDER  what counts: operations on files below this folder
// FAULTS_AT     the k-th of them fails, from 1; 0 or none: none does
// FAULTS_DO     kill    the process ends by SIGKILL; of a write, half is written first
//               ENOSPC, EIO, EROFS   the operation fails with this error; of a write, half is
//               written first
//               wait    the operation waits until the file FAULTS_UNTIL is there
// FAULTS_FROM   not empty: all operations from the k-th on fail
// FAULTS_NO_EXCHANGE  not empty: a file system that cannot exchange two names
// FAULTS_LOG    a file to which each operation is added: its number, its name, its paths
//
// Operations are writes, syncs, renames, removals, and the making of files and folders: all that
// changes a disk.
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <string>

namespace {

std::string text(const char* name) {
  const char* value = ::getenv(name);
  return value ? value : "";
}

struct Plan {
  std::string under = text("FAULTS_UNDER"), what = text("FAULTS_DO"), log = text("FAULTS_LOG"),
              until = text("FAULTS_UNTIL");
  long at = ::atol(text("FAULTS_AT").c_str());
  bool from = !text("FAULTS_FROM").empty();
  int error = what == "ENOSPC" ? ENOSPC : what == "EROFS" ? EROFS : EIO;
};
const Plan& plan() {
  static const Plan* p = new Plan;  // lives as long as the threads that may still ask
  return *p;
}

template <class F>
F real(const char* name) {
  return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

/// The path behind a descriptor.
std::string path_of(int fd) {
  char link[64], out[PATH_MAX];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = ::readlink(link, out, sizeof out);
  return n < 0 ? "" : std::string(out, static_cast<std::size_t>(n));
}

/// A path as the folder's name is written; it need not exist.
std::string absolute(int folder, const char* path) {
  if (!path || path[0] == '/') return path ? path : "";
  if (folder != AT_FDCWD) return path_of(folder) + "/" + path;
  char here[PATH_MAX];
  std::string out = ::getcwd(here, sizeof here) ? here : "";
  for (std::string rest = path; !rest.empty();) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string part = rest.substr(0, slash);
    rest.erase(0, slash + 1);
    if (!part.empty() && part != ".") out += "/" + part;
  }
  return out;
}

bool counts(const std::string& path) {
  return !plan().under.empty() && path.compare(0, plan().under.size(), plan().under) == 0;
}

enum class Verdict { go_on, fail, kill };

/// Counts one operation and says what becomes of it.
Verdict judge(const char* name, const std::string& path, const std::string& second = "") {
  static std::mutex mutex;
  static long number = 0;
  std::lock_guard lock(mutex);
  ++number;
  if (!plan().log.empty()) {
    const std::string line = std::to_string(number) + " " + name + " " + path +
                             (second.empty() ? "" : " " + second) + "\n";
    const int fd = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, plan().log.c_str(),
                                              O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    (void)!::syscall(SYS_write, fd, line.data(), line.size());
    ::syscall(SYS_close, fd);
  }
  if (plan().at <= 0 || number < plan().at || (number > plan().at && !plan().from))
    return Verdict::go_on;
  if (plan().what == "wait") {
    while (::access(plan().until.c_str(), F_OK) != 0) ::usleep(10000);
    return Verdict::go_on;
  }
  return plan().what == "kill" ? Verdict::kill : Verdict::fail;
}

[[noreturn]] void end() {
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

/// The answer of an operation that takes the paths: `go()` unless it is to fail.
template <class F>
int operation(const char* name, const std::string& path, const std::string& second, F&& go) {
  if (!counts(path) && !counts(second)) return go();
  switch (judge(name, path, second)) {
    case Verdict::go_on: return go();
    case Verdict::kill: end();
    case Verdict::fail: errno = plan().error; return -1;
  }
  return -1;
}

int opened(const char* path, int folder, int flags, mode_t mode) {
  auto go = [&] { return static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode)); };
  if (!(flags & O_CREAT)) return go();
  const std::string at = absolute(folder, path);
  struct stat info;
  if (!(flags & O_TRUNC) && ::stat(at.c_str(), &info) == 0) return go();  // changes nothing
  return operation("create", at, "", go);
}

mode_t mode_of(int flags, va_list list) {
  return flags & (O_CREAT | O_TMPFILE) ? static_cast<mode_t>(va_arg(list, int)) : 0;
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* bytes, size_t n) {
  const std::string path = fd > 2 && !plan().under.empty() ? path_of(fd) : "";
  if (!counts(path)) return ::syscall(SYS_write, fd, bytes, n);
  const Verdict verdict = judge("write", path);
  if (verdict == Verdict::go_on) return ::syscall(SYS_write, fd, bytes, n);
  (void)!::syscall(SYS_write, fd, bytes, n / 2);
  if (verdict == Verdict::kill) end();
  errno = plan().error;
  return -1;
}

int fsync(int fd) {
  return operation("sync", path_of(fd), "",
                   [&] { return static_cast<int>(::syscall(SYS_fsync, fd)); });
}
int fdatasync(int fd) {
  return operation("sync", path_of(fd), "",
                   [&] { return static_cast<int>(::syscall(SYS_fdatasync, fd)); });
}

int rename(const char* from, const char* to) {
  return operation("rename", absolute(AT_FDCWD, from), absolute(AT_FDCWD, to),
                   [&] { return real<int (*)(const char*, const char*)>("rename")(from, to); });
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  return operation("exchange", absolute(from_folder, from), absolute(to_folder, to), [&] {
    if (!text("FAULTS_NO_EXCHANGE").empty())
      flags |= 1u << 31;  // none that is known: EINVAL, as such file systems say
    return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
  });
}

int unlink(const char* path) {
  return operation("remove", absolute(AT_FDCWD, path), "",
                   [&] { return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0)); });
}
int unlinkat(int folder, const char* path, int flags) {
  return operation("remove", absolute(folder, path), "",
                   [&] { return static_cast<int>(::syscall(SYS_unlinkat, folder, path, flags)); });
}
int remove(const char* path) {
  return operation("remove", absolute(AT_FDCWD, path), "",
                   [&] { return real<int (*)(const char*)>("remove")(path); });
}
int rmdir(const char* path) {
  return operation("remove", absolute(AT_FDCWD, path), "", [&] {
    return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
  });
}
int mkdir(const char* path, mode_t mode) {
  return operation("mkdir", absolute(AT_FDCWD, path), "",
                   [&] { return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode)); });
}

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return opened(path, AT_FDCWD, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return opened(path, AT_FDCWD, flags, mode);
}
}
