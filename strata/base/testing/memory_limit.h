// Tests of how much memory something takes: in a child process that gets no more.
//
//   EXPECT_EQ(within(48, [&] { return decode(bytes).status().message(); }), "no such file");
#pragma once

#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <new>
#include <string>

#include "strata/base/testing/process_memory.h"

namespace strata {

/// Memory of this process that is not a file's.
inline std::uint64_t own_data() { return process_memory("VmData:"); }

/// Calls `f` in a child that gets `megabytes` more of memory that is not a file's; what `f` says,
/// or how the child ended.
inline std::string within(int megabytes, const std::function<std::string()>& f) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::malloc_trim(0);
    const rlim_t most = own_data() + (rlim_t(megabytes) << 20);
    const rlimit limit{most, most};
    std::string said = "no limit";
    if (::setrlimit(RLIMIT_DATA, &limit) == 0) {
      try {
        said = f();
      } catch (const std::bad_alloc&) {
        said = "out of memory";
      }
    }
    said.resize(std::min<std::size_t>(said.size(), 1000));
    (void)!::write(ends[1], said.data(), said.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string out(1000, '\0');
  const ssize_t n = ::read(ends[0], out.data(), out.size());
  ::close(ends[0]);
  out.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? out : "killed by a signal";
}

}  // namespace strata
