#include "strata/type/literals_in_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <limits>

#include "strata/base/nameless_file.h"

namespace strata {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
thread_local std::size_t least_bytes = kNone;

}  // namespace

LiteralsInFiles::LiteralsInFiles(std::size_t least) : before_(least_bytes) { least_bytes = least; }
LiteralsInFiles::~LiteralsInFiles() { least_bytes = before_; }

std::shared_ptr<std::byte[]> internal::bytes_in_file(std::size_t bytes) {
  if (bytes < least_bytes || bytes == 0) return nullptr;
  Result<int> fd = nameless_file();
  if (!fd) return nullptr;
  // Room is taken now: a page that finds none later would end the process.
  const bool has_room = ::posix_fallocate(*fd, 0, static_cast<off_t>(bytes)) == 0;
  void* at =
      has_room ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0) : MAP_FAILED;
  ::close(*fd);
  if (at == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(at), [bytes](std::byte* p) { ::munmap(p, bytes); }};
}

}  // namespace strata
