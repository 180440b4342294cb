#include "strata/base/nameless_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include "strata/base/io_status.h"

namespace strata {
namespace {

/// For file systems that make no file without a name (NFS): one whose name is gone at once.
int named_then_removed(const std::string& folder) {
  std::string path = folder + "/strata-XXXXXX";
  const int fd = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd >= 0) ::unlink(path.c_str());
  return fd;
}

}  // namespace

Result<int> nameless_file() {
  std::error_code error;
  const std::string folder = std::filesystem::temp_directory_path(error).string();
  if (error) {
    const char* named = std::getenv("TMPDIR");
    return io_status(error.value(), named ? named : "/tmp",
                     "make a temporary file (TMPDIR names the folder)");
  }
  int fd = ::open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) fd = named_then_removed(folder);
  if (fd < 0) return io_status(errno, folder, "make a temporary file (TMPDIR names the folder)");
  return fd;
}

}  // namespace strata
